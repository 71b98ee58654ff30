"""What follows from a joint's transform alone: its motion subspace, bias and rates."""

"""Tools on the public functions: derivatives of any of them, closing loops, one joint's quantities, packed entries."""

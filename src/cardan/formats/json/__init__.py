"""JSON of joints, mechanisms and models, exact to the last bit."""

"""What a fit of a kernel machine is made of."""

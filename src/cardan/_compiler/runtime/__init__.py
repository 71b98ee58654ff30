"""What runs beside a program: the disk cache of compiled ones, and threads."""

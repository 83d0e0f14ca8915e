"""Pure rules: no clock, no chance, no I/O. Every number a policy needs is an argument."""

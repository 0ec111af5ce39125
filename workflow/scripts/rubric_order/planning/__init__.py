"""Planning of reads of items, and of the distinct requests that the reads need."""

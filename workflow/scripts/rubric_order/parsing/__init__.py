"""What a judge wrote, as choices."""

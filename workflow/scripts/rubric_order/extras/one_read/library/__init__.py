"""What `import rubric_order` offers of these methods, and asking in rounds for `certify --adaptive`."""

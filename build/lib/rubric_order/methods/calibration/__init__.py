"""Single reads made better by what a balanced study knows of a judge's positions."""

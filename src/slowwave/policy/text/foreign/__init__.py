"""What of a message is not its writer's own statement: role plays, stories, quotations, text to translate, exercises."""

"""Who works on an item, until when, and what happens when two want the same one."""

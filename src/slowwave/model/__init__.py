"""The values everything else speaks in: frozen, slotted, keyword-only."""

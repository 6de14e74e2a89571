// Package forget erases what a person said, or what a companion remembers, on that
// person's or an admin's word: from the rooms' journals and their snapshots, from the
// index of rooms, from the keys of modules, from memories, and from what others said after
// them. It is the one exception of the law that history is never destroyed.
//
// An order is durable in the ledger before anything is erased, and goes on at the next
// start where the daemon was killed; an older journal that is put in place has the
// orders that it does not know applied again before any door opens. Entries stay, with
// their numbers, kinds and states, and a name that stands for nobody: the chain of hashes holds, and
// the state of a room stays the fold of its entries.
//
// It never erases on the word of an agent, a companion or a module, and never writes down
// the name or the words that it erases.
package forget

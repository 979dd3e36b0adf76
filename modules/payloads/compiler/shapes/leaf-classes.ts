/** Classes of payload fields, by who controls their values. */

/**
 * `text`: free text that outsiders can write. `identifier`: a login, id, hash or time, whose characters the sender
 * restricts. `enum`: one of a few words, or a boolean. `url`: an address that the sender generates. `ours`: text that only
 * people with write access to the owner's account can write. `unknown`: treated as free text.
 */
export type LeafClass = 'text' | 'identifier' | 'enum' | 'number' | 'url' | 'ours' | 'unknown';

/** What a field of a payload can be, by who may have written it. */

/**
 * `text`: free text, somebody outside may write what they like. `identifier`: a login, id, hash or time, in characters
 * that the sender restricts. `enum`: one of a few words, true or false. `url`: an address that the sender makes.
 * `ours`: text that only people write who may change what is the owner's anyway. `unknown`: nothing is known of it;
 * wherever free text matters it counts as free text.
 */
export type LeafClass = 'text' | 'identifier' | 'enum' | 'number' | 'url' | 'ours' | 'unknown';

/** Recognises instructions, descriptions and samples that stand where a secret is expected. */
import { INSTRUCTION_WORDS, MAYBE_INSTRUCTION_WORDS, STAND_IN_WORDS } from './built/stand-ins.ts';

/*
 * Random text must not match any of these, because a valid secret would then be rejected: short words match only between
 * separators, and only long words match when run together.
 */

/** The start of an instruction in separate words: `change me`, `add-a-secret`, `SET_THIS`. */
const INSTRUCTION =
  /^(?:please )?(?:change|replace|update|fill|enter|insert|put|paste|set|add|use|generate) (?:me|it|this|in|out|with|here|your|the|an?|my|before|to|own)(?: |$)/;
/** Instructions without separators: `changeme123`, `replacewithyours`, `putyourkeyhere`. */
const RUN_TOGETHER =
  /^(?:please)?(?:(?:change|replace|update|insert|enter|paste|generate)(?:me|it|this|with|here|your|the|my|before)|(?:put|set|add|use|fill)(?:this|with|here|your))[a-z]*[0-9]{0,4}$/;
const RUN_TOGETHER_SHORT = /^(?:fill|put|set|add|use)(?:me|it|in|out)[0-9]{0,4}$/;
const OF_SECRET =
  '(?:your|my|our|the|some|super|top|very|webhook|hook|signing|shared|global|client|app|application|bot|auth|access|api|' +
  'github|gitlab|slack|telegram|discord|stripe|openai|hmac|random|strong|long|test|dummy|sample|fake|demo|default|secret|private)';
const SECRET_WORD = '(?:secret|s3cr3t|token|key|password|passw0rd|passwd|pass|credentials?)';
const NAMED = new RegExp(
  `^a?${OF_SECRET}*${SECRET_WORD}s?(?:key|token|value|string|text|goes|here|please)*[0-9]{0,4}$`,
);
const WORDS =
  /^(?:todo|fixme|tbd|tba|none|null|nil|undefined|false|true|empty|unset|missing|redacted|hidden|masked|removed|dummy|sample|demo|test|testing|foo|bar|foobar|baz|default|admin|letmein|qwerty|abc123|[0-9]?1234567?8?9?0?|0123456789(?:abcdef)?|deadbeef)$/;
const PUT_HERE = new RegExp(`^(?:insert|enter|paste|put|replace|fill|add|provide)[a-z]*${SECRET_WORD}[a-z]*$`);
const SAYS_SO =
  /example|placeholder|changeme|changeit|replaceme|fillmein|notasecret|notarealsecret|insertyour|yoursecret|yourtoken|donotuse|inproduction|(?:its|thisis)asecret/;
/** `<your secret>`, `[API_KEY]`: words between brackets. */
const BRACKETED = /^(?:<[^<>]*>|\[[^[\]]*\]|\([^()]*\)|\(\([^()]*\)\))$/;
const IN_WORDS = /^[\s.…*?#_-]*(?:[A-Za-z]+[0-9]{0,2}(?:[\s.…'’*?#_-]+|$))*$/;
/** `a-long-random-text`, `very long random string`. */
const HOW_LONG =
  /^(?:an?|any|some|my|your|the)?(?:very|really|long|random|strong|secure|unique|unguessable){1,6}(?:text|string|value|phrase|word|bytes|hex|characters?|chars?|here|please){0,4}[0-9]{0,4}$/;
/** The prefix of a sender's secrets without a secret: `ghp_xxxx`, `whsec_...`, `xoxb-xxxx-xxxx`. */
const EMPTY_BEHIND_PREFIX = /^(?:[A-Za-z0-9]{1,12}[_.:-]){1,4}([xX.…*•?0])\1{2,}(?:[_:-]([xX.…*•?0])\2{2,})*$/;
/** Random text does not repeat one letter this often. */
const MASKED = /x{8}|X{8}|\*{8}/;
/** Texts of at least this many words count as passphrases, which may contain the words above. */
const PASSPHRASE_WORDS = 8;

const SEPARATORS = /[\s._:/!"'-]+/;

/** Whether the text is an instruction, a description or a sample, and not a secret. */
export function isStandIn(text: string): boolean {
  if (BRACKETED.test(text)) return IN_WORDS.test(text.replace(/^[<[(]+|[>\])]+$/g, ''));
  // xxxx, ****, ...
  if (/^[.…*•xX_?#-]+$/.test(text) || EMPTY_BEHIND_PREFIX.test(text) || MASKED.test(text)) return true;
  // Real URLs may contain these words, for example in host names.
  if (/^(?:https?|postgres(?:ql)?):\/\//i.test(text)) return /<[^<>]*>/.test(text);
  const inner = text.toLowerCase().replace(/^[^\p{L}\p{N}]{1,3}|[^\p{L}\p{N}]{1,3}$/gu, '');
  const words = inner.split(SEPARATORS).filter(Boolean);
  const plain = words.join('');
  if (/^(.)\1*$/u.test(plain) || INSTRUCTION.test(text.toLowerCase().replace(/[\s_-]+/g, ' '))) return true;
  if ([RUN_TOGETHER, RUN_TOGETHER_SHORT, NAMED, PUT_HERE, WORDS, HOW_LONG].some((pattern) => pattern.test(plain)))
    return true;
  return words.length < PASSPHRASE_WORDS && (SAYS_SO.test(plain) || isOfWords(words));
}

const INSTRUCTIONS = new Set(INSTRUCTION_WORDS.split(' '));
const MAYBE = new Set(MAYBE_INSTRUCTION_WORDS.split(' '));
const KNOWN = new Set([...INSTRUCTIONS, ...MAYBE, ...STAND_IN_WORDS.split(' ')]);

/** `TODO-replace-with-secret`, `acme-token-goes-here`, `webhook-secret-1`: nothing but words, of which some say what to do, or all are known. */
function isOfWords(words: readonly string[]): boolean {
  const bare = words.map((word) => word.replace(/(?<=\p{L})[0-9]{1,4}$/u, ''));
  if (/^[0-9]{1,4}$/.test(bare.at(-1) ?? '')) bare.pop();
  if (bare.length === 0 || !bare.every((word) => /^(?:\p{L}+|s3cr3t|passw0rd)$/u.test(word))) return false;
  const known = bare.filter((word) => KNOWN.has(word)).length;
  if (bare.some((word) => INSTRUCTIONS.has(word)) || (known === bare.length && known <= 3)) return true;
  // Others may be words of a passphrase, unless most of them are known.
  return known > 1 && known * 2 > bare.length && bare.some((word) => MAYBE.has(word));
}

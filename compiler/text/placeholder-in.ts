/**
 * Recognises placeholders that were never replaced with a secret: variables of other tools, which are not expanded, and
 * sample values from examples and manuals, which anyone can guess.
 */

import { inPlainLetters } from './plain-letters.ts';
import { INSECURE_NO_AUTH } from './secret-ref.ts';

export interface SecretPlaceholder {
  /** Description for a message, without the text itself. */
  readonly what: string;
  readonly variable: string | null;
}

/** Returns null if the text may be a secret. */
export function placeholderIn(text: string): SecretPlaceholder | null {
  if (text === INSECURE_NO_AUTH) return null;
  const trimmed = inPlainLetters(text).trim();
  const variable = VARIABLES.find((pattern) => pattern.test(trimmed));
  if (variable !== undefined) return { what: NOT_EXPANDED, variable: nameIn(trimmed) };
  if (REFERENCES.test(trimmed)) return { what: NOT_READ, variable: null };
  return isStandIn(trimmed) ? { what: STAND_IN, variable: null } : null;
}

/**
 * Returns why the value of a variable or a file is not a secret, or null if it may be one.
 * @param loopback whether only this machine can reach the server; values of the examples are then allowed
 */
export function refusedValue(value: string, loopback: boolean): string | null {
  const found = placeholderIn(value);
  if (found === null || (loopback && found.variable === null && /example/i.test(value))) return null;
  return `is not a secret: ${found.what}`;
}

/** Advice for a rejected value. */
export const MAKE_A_SECRET = 'make one with `openssl rand -hex 32`';

const NOT_EXPANDED = 'this is not expanded: the text itself would be the secret';
const NOT_READ = 'this is not looked up: the text itself would be the secret';
const STAND_IN = 'this is a placeholder that anyone can guess';

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
/** A variable name that random text rarely looks like: in one case, with at least three characters. */
const PLAIN_NAME = '(?:[A-Z_][A-Z0-9_.]{2,}|[a-z_][a-z0-9_.]{2,})';
const VARIABLES: readonly RegExp[] = [
  // ${X}, ${X:-y}, ${{ secrets.X }}, {{ x }}: also within a text.
  new RegExp(`\\$\\{\\s*!?${PLAIN_NAME}\\s*(?:[:?+=-][^{}]*)?\\}`),
  new RegExp(`^\\$\\{${NAME}\\}$`),
  /\{\{[\w\s.$'"()|,-]*\}\}/,
  // #{X}, @{X}, %{X}, !{X}; $X, $(command), `command`, %X%, {X}, <%= x %>
  new RegExp(`^[#@%!&~]\\{{1,2}\\s*${NAME}\\s*\\}{1,2}$`),
  new RegExp(`^\\$(?:${PLAIN_NAME}|[A-Za-z_]\\w{0,5})$`),
  /^\$\([\w./~-]+(?:\s.*)?\)$/,
  /^`[\w./~-]+(?:\s[^`]*)?`$/,
  new RegExp(`^%${PLAIN_NAME}%$`),
  new RegExp(`^\\{${PLAIN_NAME}\\}$`),
  /^<%.*%>$/,
  // ENV:X, Env: X, $env:X, env.X, env(X), !ENV X, and expressions of programming languages
  new RegExp(`^[$!]?env(?:iron(?:ment)?)?(?:\\s*[:=.]\\s*|\\s*[[(]\\s*["']?|\\s+)[$]?${NAME}["']?[\\])]?$`, 'i'),
  new RegExp(`^(?:process\\.env|os\\.environ|os\\.getenv|getenv|ENV)(?:\\.get)?[.[(]["']?${NAME}["']?[\\])]?$`, 'i'),
  /^file\s*[:=]\s*[~./\\\w]/i,
];

/** References of other tools, such as secret managers, and encrypted values. */
const REFERENCES =
  /^(?:(?:op|vault|ssm|awssm|gcpsm|azurekv|keyring|bws?|doppler|infisical|secret|secretref|sops):\/\/?|ref\+[a-z]+:|vault:|arn:aws:|ENC\[|@Microsoft\.KeyVault\(|projects\/[^/]+\/secrets\/)/i;

/** The last word that looks like a variable name, so that a secret that begins with `$` is not repeated. */
function nameIn(text: string): string | null {
  const names = text.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g);
  return names?.at(-1) ?? null;
}

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
  /example|placeholder|changeme|changeit|replaceme|fillmein|notasecret|notarealsecret|insertyour|yoursecret|yourtoken/;
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

function isStandIn(text: string): boolean {
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
  return words.length < PASSPHRASE_WORDS && SAYS_SO.test(plain);
}

/**
 * Recognises values that are not secrets: variables and references of other tools, sample values, instructions and
 * common passwords.
 */

import {
  ADDRESS_SCHEMES,
  BRACKETS,
  COMMON_PASSWORDS,
  EXPLANATIONS,
  INSTRUCTION_WORDS,
  MAYBE_INSTRUCTION_WORDS,
  REFERENCE_PREFIXES,
  SIGNS,
  STAND_IN_WORDS,
} from './built/stand-ins.ts';
import { INSECURE_NO_AUTH, isNearNoAuth } from './secret-ref.ts';

/*
 * A value that is not a secret: a variable or reference of another tool, which is not resolved, a sample value, or a
 * common password, which anyone can guess.
 */

export interface SecretPlaceholder {
  /** `quoted`: in quotes that are part of the text. `no-auth`: INSECURE_NO_AUTH in another spelling. */
  readonly kind: 'variable' | 'reference' | 'stand-in' | 'guessable' | 'quoted' | 'no-auth';
  /** Description for a message, without the text itself. */
  readonly what: string;
  /** Name of the variable that is meant, or null. */
  readonly variable: string | null;
}

/**
 * Returns null if the text may be a secret.
 * @param signs whether INSECURE_NO_AUTH could be meant; if not, another spelling of it is an ordinary stand-in
 */
export function placeholderIn(text: string, signs = true): SecretPlaceholder | null {
  if (text === INSECURE_NO_AUTH) return null;
  const trimmed = inPlainLetters(text).trim();
  const found = kindOf(trimmed);
  const kind = found === 'no-auth' && !signs ? 'stand-in' : found;
  return kind === null
    ? null
    : { kind, what: EXPLANATIONS[kind], variable: kind === 'variable' ? nameIn(trimmed) : null };
}

function kindOf(text: string): SecretPlaceholder['kind'] | null {
  if (isNearNoAuth(text)) return 'no-auth';
  const foreign = foreignReference(text);
  if (foreign !== null) return foreign;
  const forms = innerTexts(text).flatMap((form) => [form, ...encodedIn(form)]);
  if (forms.some(isStandIn)) return 'stand-in';
  if (forms.some(isGuessable)) return 'guessable';
  return /^(["'])[\w+/=-]{12,}\1$/.test(text) ? 'quoted' : null;
}

/** The text in base64, or after the prefix of a sender's secrets: `Y2hhbmdlbWU=`, `whsec_AAAAAAAAAAAA`. */
function encodedIn(text: string): readonly string[] {
  const [, behind] = /^[a-z]{2,8}_(?:[a-z]{4}_)?(.{12,})$/.exec(text) ?? [];
  const decoded = Buffer.from(text, 'base64');
  const isBase64 = decoded.toString('base64') === text && /^[\w .:!@-]{4,}$/.test(decoded.toString('latin1'));
  return [...(behind === undefined ? [] : [behind]), ...(isBase64 ? [decoded.toString()] : [])];
}

/**
 * Returns why the value of a variable or a file is not a secret, or null if it may be one.
 * @param loopback whether only this machine can reach the server; values of the examples are then allowed
 * @param signs as for `placeholderIn`
 */
export function refusedValue(value: string, loopback: boolean, signs: boolean): string | null {
  const found = placeholderIn(value, signs);
  if (found === null || (loopback && found.kind === 'stand-in' && /example/i.test(value))) return null;
  return `is not a secret: ${found.what}${found.kind === 'no-auth' ? `; to disable signature checks, write ${INSECURE_NO_AUTH}` : ''}`;
}

/** Advice for a rejected value. */
export const MAKE_A_SECRET = 'make one with `openssl rand -hex 32`';

/** The last word that looks like a variable name, so that a secret that begins with `$` is not repeated. */
function nameIn(text: string): string | null {
  const names = text.match(/(?<![A-Za-z0-9])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![a-z0-9])/g);
  return names?.at(-1) ?? null;
}

/** Words as names of secrets have them: one case, and few digits at the end of each. */
const WORD = '(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)(?:[A-Z][a-z]+)*[0-9]{0,3}';
const WORDS = `${WORD}(?:[-_.]+${WORD})*`;
/** Several words, or one in a folder. */
const PATH_OF_WORDS = `(?:\\/?${WORDS}(?:[/#:@]${WORDS})+|[A-Z]+(?:_[A-Z0-9]+)+)`;

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
/** A variable name that random text rarely looks like: in one case, with at least three characters. */
const PLAIN_NAME = '(?:[A-Z_][A-Z0-9_.]{2,}|[a-z_][a-z0-9_.]{2,})';
const VARIABLES: readonly RegExp[] = [
  // ${X}, ${X:-y}, ${{ secrets.X }}, {{ x }}: also within a text.
  new RegExp(`\\$\\{\\s*!?${PLAIN_NAME.replaceAll('2', '4')}\\s*(?:[:?+=-][^{}]*)?\\}`),
  new RegExp(`^\\$\\{\\s*${NAME}\\s*(?:[:?+=-][^{}]*)?\\}$`),
  /\{\{[\w\s.$'"()|,-]*\}\}/,
  // #{X}, @{X}, %{X}, !{X}, $[X]; $X, $(command), `command`, %X%, {X}, %(X)s, <%= x %>
  new RegExp(`^[#@%!&~]\\{{1,2}\\s*${NAME}\\s*\\}{1,2}$`),
  new RegExp(`^[$%][[(<]\\s*${PLAIN_NAME}\\s*[\\])>]s?$`),
  new RegExp(`^\\$(?:${PLAIN_NAME}|[A-Za-z_]\\w{0,5})$`),
  /^\$\([\w./~-]+(?:\s.*)?\)$/,
  /^`[\w./~-]+(?:\s[^`]*)?`$/,
  new RegExp(`^%${PLAIN_NAME}%$`),
  new RegExp(`^\\{${PLAIN_NAME}\\}$`),
  /^<%.*%>$/,
  // __X__, ::X::, ~X~
  /^([^A-Za-z0-9\s])\1{0,2}[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\1{1,3}$/,
  // WEBHOOK_SECRET, without `env:`
  /^(?!(?:YOUR|MY|REPLACE|CHANGE|INSERT|ENTER|PUT|PASTE|SET|ADD|USE|TODO|FIXME|SOME|A|THE)_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:SECRET|TOKEN|KEY|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|HMAC)$/,
  // ENV:X, Env: X, $env:X, env.X, env(X), env/X, !ENV X, and expressions of programming languages
  new RegExp(`^[$!]?env(?:iron(?:ment)?)?(?:\\s*[:=.]\\s*|\\s*[[(]\\s*|\\s+)[$]?${NAME}[\\])]?$`, 'i'),
  new RegExp(`^(?:process\\.env|os\\.environ|os\\.getenv|getenv|ENV)(?:\\.get)?[.[(:]${NAME}[\\])]?$`, 'i'),
  /^(?:process\.env|os\.environ|env|ENV)\/(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*|[a-z]+(?:_[a-z]+)*)$/,
  new RegExp(`^(?:${WORD}\\.)+[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$`),
  new RegExp(`^(?:data|var|local|steps|secrets|inputs|module|config|settings|outputs)(?:\\.${WORDS})+$`),
  /^(?:\w+\.)*(?:getenv|get_env|env\.get|environ|lookup|get_?secret\w*)\(.*\)$/i,
  /^file\s*[:=]\s*[~./\\\w]/i,
];

const PREFIXES = REFERENCE_PREFIXES.replaceAll('.', '\\.').replaceAll(' ', '|');
const REFERENCES: readonly RegExp[] = [
  // Secret managers, and encrypted values
  /^(?:(?:op|bws?|sm|ps):\/\/?|ref\+[a-z]+:|arn:aws:|ENC\[|\{(?:cipher|enc|noop)\}|\$ANSIBLE_VAULT;|AGE-SECRET-KEY-1?$|@Microsoft\.KeyVault\(|projects\/[^/]+\/secrets\/|resolve:|\{resolve:)/i,
  new RegExp(`^[!@$#&]?(?:${PREFIXES}|${PREFIXES.toUpperCase()})\\s*:\\s*\\S`),
  new RegExp(`^[!@$#&]?(?:${PREFIXES}|kv)[/.(#]\\s*${WORDS}(?:[/#:.]${WORDS})*\\)?$`),
  // Any other prefix before something that is called like a secret
  new RegExp(`^(?!(?:${ADDRESS_SCHEMES.replaceAll(' ', '|')}):)[a-z][a-z0-9+._-]*:(?:\\/\\/)?${PATH_OF_WORDS}$`),
  // !vault x, !Ref X, {"Ref": X}
  /^![A-Za-z][\w.:-]*\s+\S/,
  /^\{?\s*(?:Ref|Fn::\w+|secretKeyRef|valueFrom|secretRef)\s*:/,
  // ENC(x), of Jasypt
  /^(?:ENC|enc)\([\w+/=-]+\)$/,
  // Files
  new RegExp(
    `^@?(?:~|\\.{1,2}|\\/(?:run|etc|var|home|secrets|mnt|opt|usr|srv|tmp|root|app|config|data))(?:\\/\\.?${WORDS})+$`,
  ),
  /^[A-Za-z]:\\(?:[\w .-]+\\)*[\w .-]+$/,
  /^[a-z][a-z_-]*\.(?:txt|key|pem|json|ya?ml|env|toml|ini|conf|secret)$/,
];

/** `variable`: it is not expanded; `reference`: it is not looked up. Null if the text is neither. */
function foreignReference(text: string): 'variable' | 'reference' | null {
  // Most secrets: no such text is written without other signs.
  if (/^[A-Za-z0-9+=-]*$/.test(text)) return null;
  for (const form of innerTexts(text)) {
    if (form !== text && NAME_ALONE.test(form)) return 'variable';
    if (VARIABLES.some((pattern) => pattern.test(form))) return 'variable';
    if (REFERENCES.some((pattern) => pattern.test(form))) return 'reference';
  }
  return null;
}

/** Between brackets. */
const NAME_ALONE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

const PAIRS = BRACKETS.map((pair) => new RegExp(`^${pair}$`, 's'));

/** The text, and what is between the brackets, quotes or signs around it, from the outside inwards. */
function innerTexts(text: string): readonly string[] {
  const forms = [text];
  const within = (form: string): string | undefined =>
    PAIRS.map((pair) => pair.exec(form)?.[1]?.trim()).find((inner) => inner !== undefined);
  for (let form = within(text); form !== undefined; form = within(form)) forms.push(form);
  const inner = forms.at(-1) ?? text;
  const bare = inner.replace(/["'`]/g, '');
  const isPaired = ['"', "'", '`'].every((quote) => inner.split(quote).length % 2 === 1);
  return bare === inner || !isPaired ? forms : [...forms, bare];
}

const COMMON = new Set(COMMON_PASSWORDS.split(' '));

/** Random text of any usual alphabet is never guessable from 16 characters on. */
function isGuessable(text: string): boolean {
  const lower = text.toLowerCase();
  // The secret of HTTP Basic is `user:password`.
  const [, password] = /^[a-z][\w.@-]*:([^:/]+)$/.exec(lower) ?? [];
  const joined = lower.replace(/[\s._-]/g, '');
  return (
    isRepeated(lower) ||
    isWalk(joined.replace(/(.)\1+/gsu, '$1')) ||
    isInterleaved(lower) ||
    isCommon(lower) ||
    isCommon(joined) ||
    isCommon(password ?? '')
  );
}

const LETTERS: Readonly<Record<string, string>> = SIGNS;

/** Digits, signs and letters written as digits are ignored, unless little else is left. */
function isCommon(text: string): boolean {
  if (COMMON.has(text)) return true;
  const bare = text.replace(/^[^a-z]{0,4}/, '').replace(/[^a-z]{0,8}$/, '');
  const letters = text.replace(/[^a-z]{0,8}$/, '').replace(/[013457@$!]/g, (sign) => LETTERS[sign] ?? sign);
  return [bare, letters].some((word) => word.length >= 4 && word.length * 2 >= text.length && COMMON.has(word));
}

/** At most three different characters, or a short text several times. */
function isRepeated(text: string): boolean {
  const { size } = new Set(text);
  if (size === 1 || (size === 2 && text.length >= 8) || (size === 3 && text.length >= 16)) return true;
  const most = text.length <= 16 ? text.length / 2 : Math.min(8, text.length / 3);
  for (let period = 2; period <= most; period++) if (text.startsWith(text.slice(period))) return true;
  return false;
}

/** Rows of a keyboard, each with the shift of its first key to the right. */
const ROWS: readonly (readonly [keys: string, shift: number])[] = [
  ['1234567890', 0],
  ['qwertyuiop', 0.5],
  ['asdfghjkl', 0.75],
  ['zxcvbnm', 1.25],
];
const KEYS = new Map(
  ROWS.flatMap(([keys, shift], y) => [...keys].map((key, x) => [key, { x: x + shift, y }] as const)),
);
const SHORTEST_WALK = 4;

/** Whether nearly every character is next to the one before it: `12345678`, `abcdefgh`, `1q2w3e4r`, `qwertyuiop`. */
function isWalk(text: string): boolean {
  if (text.length < SHORTEST_WALK) return false;
  let breaks = Math.floor((text.length - 1) / 7);
  for (let at = 1; at < text.length && breaks >= 0; at++) if (!isNext(text[at - 1] ?? '', text[at] ?? '')) breaks--;
  return breaks >= 0;
}

/** Two sequences by turns: `a1b2c3d4e5`. */
function isInterleaved(text: string): boolean {
  if (text.length < 2 * SHORTEST_WALK) return false;
  for (let at = 2; at < text.length; at++)
    if (text.charCodeAt(at) - text.charCodeAt(at - 2) !== 1 && text[at - 2] + (text[at] ?? '') !== '90') return false;
  return true;
}

function isNext(before: string, after: string): boolean {
  const step = Math.abs((before.codePointAt(0) ?? 0) - (after.codePointAt(0) ?? 0));
  const pair = before + after;
  const isSequence =
    (/^[0-9]{2}$/.test(pair) && (step <= 1 || step === 9)) || (/^[a-z]{2}$/.test(pair) && (step <= 1 || step === 25));
  const [a, b] = [KEYS.get(before), KEYS.get(after)];
  return isSequence || (a !== undefined && b !== undefined && Math.hypot(a.x - b.x, a.y - b.y) < 1.3);
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
const SAMPLE_WORDS =
  /^(?:todo|fixme|tbd|tba|none|null|nil|undefined|false|true|empty|unset|missing|redacted|hidden|masked|removed|dummy|sample|demo|test|testing|foo|bar|foobar|baz|default|admin|letmein|qwerty|abc123|[0-9]?1234567?8?9?0?|0123456789(?:abcdef)?|deadbeef)$/;
const PUT_HERE = new RegExp(`^(?:insert|enter|paste|put|replace|fill|add|provide)[a-z]*${SECRET_WORD}[a-z]*$`);
const SAYS_SO =
  /example|placeholder|changeme|changeit|replaceme|fillmein|notasecret|notarealsecret|insertyour|yoursecret|yourtoken|donotuse|inproduction|opensslrand|[0-9]{3}bit(?:secret|key|slong)|(?:its|thisis)asecret/;
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
  if (
    [RUN_TOGETHER, RUN_TOGETHER_SHORT, NAMED, PUT_HERE, SAMPLE_WORDS, HOW_LONG].some((pattern) => pattern.test(plain))
  )
    return true;
  return words.length < PASSPHRASE_WORDS && (SAYS_SO.test(plain) || isOfWords(words));
}

const INSTRUCTIONS = new Set(INSTRUCTION_WORDS.split(' '));
const MAYBE = new Set(MAYBE_INSTRUCTION_WORDS.split(' '));
const KNOWN = new Set([...INSTRUCTIONS, ...MAYBE, ...STAND_IN_WORDS.split(' ')]);

/** `TODO-replace-with-secret`, `acme-token-goes-here`, `webhook-secret-1`: only words, some of them instructions, or all of them known. */
function isOfWords(words: readonly string[]): boolean {
  const bare = words.map((word) => word.replace(/(?<=\p{L})[0-9]{1,4}$/u, ''));
  if (/^[0-9]{1,4}$/.test(bare.at(-1) ?? '')) bare.pop();
  if (bare.length === 0 || !bare.every((word) => /^(?:\p{L}+|s3cr3t|passw0rd)$/u.test(word))) return false;
  const known = bare.filter((word) => KNOWN.has(word)).length;
  if (bare.some((word) => INSTRUCTIONS.has(word)) || (known === bare.length && known <= 3)) return true;
  // Others may be words of a passphrase, unless most of them are known.
  return known > 1 && known * 2 > bare.length && bare.some((word) => MAYBE.has(word));
}

/** Maps letters of other scripts to the Latin letters that they look like: a copied `changeme` may contain them. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  (
    [
      // Cyrillic
      ['авекмнорстухіјѕԁԛԝһЅІЈАВЕКМНОРСТУХ', 'abekmhopctyxijsdqwhSIJABEKMHOPCTYX'],
      // Greek
      ['αεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'aeikvoptuxABEZHIKMNOPTYX'],
    ] as const
  ).flatMap(([foreign, latin]) => [...foreign].map((letter, at): [string, string] => [letter, latin[at] ?? ''])),
);

/** Replaces wide and accented letters with plain ones, and removes invisible characters. */
const inPlainLetters = (text: string): string =>
  [
    ...text
      .normalize('NFKC')
      .normalize('NFD')
      .replace(/[\p{Mn}\p{Cf}]/gu, ''),
  ]
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('');

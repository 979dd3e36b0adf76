/** Recognises variables and references of other tools, which nothing expands or looks up here. */
import { ADDRESS_SCHEMES, REFERENCE_PREFIXES } from './built/stand-ins.ts';

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
export function foreignReference(text: string): 'variable' | 'reference' | null {
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

const PAIRS: readonly RegExp[] = [
  /^"(.+)"$/s,
  /^'(.+)'$/s,
  /^`(.+)`$/s,
  /^\{(.+)\}$/s,
  /^\[(.+)\]$/s,
  /^\((.+)\)$/s,
  /^<(.+)>$/s,
  /^[#@%&!]\{(.+)\}$/s,
  /^%(.+)%$/s,
  /^\$(.+)\$$/s,
  /^#(.+)#$/s,
  /^@(.+)@$/s,
  /^[«“](.+)[»”]$/s,
];

/** The text, and what is between the brackets, quotes or signs around it, from the outside inwards. */
export function innerTexts(text: string): readonly string[] {
  const forms = [text];
  const within = (form: string): string | undefined =>
    PAIRS.map((pair) => pair.exec(form)?.[1]?.trim()).find((inner) => inner !== undefined);
  for (let form = within(text); form !== undefined; form = within(form)) forms.push(form);
  const inner = forms.at(-1) ?? text;
  const bare = inner.replace(/["'`]/g, '');
  const isPaired = ['"', "'", '`'].every((quote) => inner.split(quote).length % 2 === 1);
  return bare === inner || !isPaired ? forms : [...forms, bare];
}

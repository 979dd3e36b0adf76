/** Reads a curl command line, as browsers and API consoles copy it. Nothing is run. */
import { CliError } from '../base/errors.ts';
import type { CapturedRequest, ReadFile } from './captured-request.ts';
import { captureOf } from './captured-request.ts';
import { splitShellWords } from './shell-words.ts';

/** Options with a value that do not affect the request's content. */
const IGNORED = new Set([
  '-o',
  '--output',
  '-A',
  '--user-agent',
  '-e',
  '--referer',
  '--max-time',
  '-m',
  '--cacert',
  '--connect-timeout',
  '-x',
  '--proxy',
  '-w',
  '--write-out',
  '--retry',
]);

interface Draft {
  method: string | null;
  target: string | null;
  readonly headers: (readonly [string, string])[];
  readonly data: Buffer[];
}

type TakeOption = (draft: Draft, value: string, readFile: ReadFile) => void;

const header: TakeOption = (draft, value) => {
  const colon = value.indexOf(':');
  if (colon > 0) draft.headers.push([value.slice(0, colon).trim(), value.slice(colon + 1).trim()]);
};
/** As in curl: `-d @file` drops line breaks, `--data-binary @file` keeps them, and `--data-raw` does not read files. */
const data: TakeOption = (draft, value, readFile) => {
  const bytes = value.startsWith('@')
    ? Buffer.from(
        readFile(value.slice(1))
          .toString('latin1')
          .replace(/[\r\n\0]/g, ''),
        'latin1',
      )
    : Buffer.from(value);
  draft.data.push(bytes);
};
const binary: TakeOption = (draft, value, readFile) => {
  draft.data.push(value.startsWith('@') ? readFile(value.slice(1)) : Buffer.from(value));
};
const raw: TakeOption = (draft, value) => void draft.data.push(Buffer.from(value));
const method: TakeOption = (draft, value) => {
  draft.method = value;
};
const user: TakeOption = (draft, value) =>
  void draft.headers.push(['Authorization', `Basic ${Buffer.from(value).toString('base64')}`]);
const target: TakeOption = (draft, value) => {
  draft.target = value;
};

const OPTIONS: Readonly<Record<string, TakeOption>> = {
  '-H': header,
  '--header': header,
  '-d': data,
  '--data': data,
  '--data-ascii': data,
  '--data-raw': raw,
  '--data-binary': binary,
  '--json': (draft, value, readFile) => {
    binary(draft, value, readFile);
    draft.headers.push(['Content-Type', 'application/json']);
  },
  '-X': method,
  '--request': method,
  '-u': user,
  '--user': user,
  '--url': target,
};

/** @throws CliError when there is no URL or a quote is open. */
export function readCurl(text: string, readFile: ReadFile): CapturedRequest {
  const words = splitShellWords(text.replace(/^\s*\$\s*/, ''));
  if (words === null) throw new CliError('the curl command line ends inside a quotation');
  const draft: Draft = { method: null, target: null, headers: [], data: [] };
  for (let at = 1; at < words.length; at += 1) at += takeWord(draft, words, at, readFile);
  if (draft.target === null) throw new CliError('the curl command line has no URL');
  const url = /^https?:\/\//i.test(draft.target) ? draft.target : `http://${draft.target}`;
  const body = Buffer.concat(draft.data.flatMap((piece, index) => (index === 0 ? [piece] : [Buffer.from('&'), piece])));
  const hasType = draft.headers.some(([name]) => name.toLowerCase() === 'content-type');
  const headers = hasType || body.length === 0 ? draft.headers : [...draft.headers, FORM];
  return captureOf({ method: draft.method ?? (body.length > 0 ? 'POST' : 'GET'), target: url, headers, body });
}

/** The content type that curl sends with `-d` by default. */
const FORM = ['Content-Type', 'application/x-www-form-urlencoded'] as const;

/** Takes the word at a place; returns how many further ones belong to it. */
function takeWord(draft: Draft, words: readonly string[], at: number, readFile: ReadFile): 0 | 1 {
  const word = words[at] ?? '';
  const { name, joined } = splitOption(word);
  const take = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  if (take !== undefined) {
    take(draft, joined ?? words[at + 1] ?? '', readFile);
    return joined === null ? 1 : 0;
  }
  if (IGNORED.has(name)) return joined === null ? 1 : 0;
  if (!word.startsWith('-')) draft.target ??= word;
  return 0;
}

/** `--name=value` and `-Xvalue` carry their value themselves. */
function splitOption(word: string): { readonly name: string; readonly joined: string | null } {
  const long = /^(--[a-z-]+)=(.*)$/s.exec(word);
  if (long !== null) return { name: long[1] ?? '', joined: long[2] ?? '' };
  if (/^-[A-Za-z]./s.test(word) && Object.hasOwn(OPTIONS, word.slice(0, 2)))
    return { name: word.slice(0, 2), joined: word.slice(2) };
  return { name: word, joined: null };
}

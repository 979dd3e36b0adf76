/** Prints docs/targets.md from the catalog: the settings of each target, the set-up at its service, and its limits. */
import { fileURLToPath } from 'node:url';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { loadCatalogFolder } from '../../compiler/source/load-catalog.ts';
import type {
  TargetAddress,
  TargetFile,
  TargetPace,
  TargetSetting,
  TargetText,
  TargetVariant,
} from '../../schemas/generated/types.ts';
import { code, table } from './markdown.ts';
import { REPEATS_INTRO, TARGETS_INTRO } from './targets-intro.ts';

interface Entry {
  readonly name: string;
  readonly others: readonly string[];
  readonly file: TargetFile;
}

export function printTargetsPage(): string {
  const folder = fileURLToPath(new URL('../../catalog/targets', import.meta.url));
  const loaded = loadCatalogFolder({ files: nodeFiles, cwd: folder, folder, schema: 'target' });
  const entries = loaded.entries
    .map(({ name, value: file }) => ({ name, others: file.aliases ?? [], file }))
    .sort((a, b) => (a.file.title.toLowerCase() < b.file.title.toLowerCase() ? -1 : 1));
  return [TARGETS_INTRO, overview(entries), repeats(entries), ...entries.map(section)].join('\n');
}

function overview(entries: readonly Entry[]): string {
  const rows = entries.map(({ name, others, file }) => [
    `[${file.title}](#${anchor(file.title)})`,
    [name, ...others].map(code).join(', '),
    variantsOf(file)
      .map(({ title }) => title)
      .filter((title) => title !== '')
      .join(', '),
    unique(variantsOf(file).map(({ text }) => describeLimit(text))).join('; '),
  ]);
  return `${table(['Service', '`deliver:`', 'Variants', 'Maximum message'], rows)}\n`;
}

/** How each service recognises a repeat. */
function repeats(entries: readonly Entry[]): string {
  const rows = entries.flatMap(({ name, file }) => {
    const ways = isQuiet(file) ? [] : variantsOf(file);
    return unique(ways.map((way) => JSON.stringify([way.repeats, way.promise]))).map((read) => {
      const alike = ways.filter((way) => JSON.stringify([way.repeats, way.promise]) === read);
      const titles = alike.length === ways.length ? '' : alike.map(({ title }) => title).join('; ');
      return [code(name), titles, ...(JSON.parse(read) as string[])];
    });
  });
  return `${REPEATS_INTRO}${table(['`deliver:`', 'Variant', 'A repeat is recognised by', 'Promised for'], rows)}\n`;
}

const isQuiet = ({ driver }: TargetFile): boolean => driver === 'log' || driver === 'local';

function section({ name, others, file }: Entry): string {
  const also = others.length === 0 ? '' : `, also called ${others.map(code).join(', ')}`;
  const docs = file.docs?.url === undefined ? '' : ` [Documentation of the service](${file.docs.url}).`;
  const parts = [
    `## ${file.title}\n`,
    `${code(name)}${also}.${docs}\n`,
    file.docs?.setup === undefined ? '' : `${file.docs.setup.trim()}\n`,
    // Another target has these settings.
    ...(file.like === undefined ? variantsOf(file).flatMap((variant) => example(name, file, variant)) : []),
    file.like === undefined ? settingsTable(file) : '',
    addressTable(file),
    contentTable(file),
    list([...limits(file), ...(file.docs?.limits ?? [])]),
    unverified(file.docs?.unverified ?? []),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** A variant, with the defaults of the target. */
interface Way {
  readonly title: string;
  readonly needs: readonly string[];
  readonly selfHosted: boolean;
  readonly text: TargetText;
  /** How the service recognises a repeat, and for how long it promises to. */
  readonly repeats: string;
  readonly promise: string;
  readonly pacing: readonly TargetPace[];
  readonly takesChat: boolean;
  readonly address: TargetAddress;
}

function variantsOf(file: TargetFile): readonly Way[] {
  const variants: readonly TargetVariant[] = file.variants === undefined ? [{}] : Object.values(file.variants);
  return variants.map((own) => {
    const merged = { ...file, ...own };
    const window = merged.key?.window_seconds ?? 0;
    return {
      title: own.title ?? '',
      needs: own.needs ?? [],
      selfHosted: (file.driver ?? 'http') === 'http' && merged.base === undefined,
      text: merged.text ?? {},
      repeats: merged.repeats ?? 'nothing: it posts again',
      promise: merged.find !== undefined || window === YEAR ? 'ever' : window === 0 ? '' : describeSeconds(window),
      pacing: merged.pacing ?? [],
      takesChat: /\{chat_id\??\}|\{match\./.test(JSON.stringify(merged.request ?? file.driver === 'email')),
      address: merged.address ?? {},
    };
  });
}

function example(name: string, file: TargetFile, way: Way): readonly string[] {
  if (isQuiet(file)) return [];
  const settings = Object.entries(file.settings ?? {}).filter(([setting, { required, example: shown }]) => {
    if (setting === 'api_base') return way.selfHosted;
    const isOthers = Object.values(file.variants ?? {}).some(({ needs }) => needs?.includes(setting));
    return (
      way.needs.includes(setting) || required === true || (shown !== undefined && !isOthers) || isPassword(setting)
    );
  });
  const lines = settings.map(([setting, about]) => `    ${setting}: ${sample(name, setting, about)}`);
  const chat = way.address.chat_id?.example ?? file.address?.chat_id?.example;
  if (chat !== undefined && (way.takesChat || file.driver === 'email')) lines.push(`    home_channel: ${quote(chat)}`);
  if (lines.length === 0) return [];
  const title = way.title === '' ? '' : `${way.title}:\n\n`;
  return [`${title}\`\`\`yaml\nplatforms:\n  ${name}:\n    enabled: true\n${lines.join('\n')}\n\`\`\`\n`];
}

const isPassword = (setting: string): boolean => setting === 'smtp_pass';

function sample(target: string, name: string, about: TargetSetting): string {
  if (about.secret === true) return `env:${`${target}_${name}`.toUpperCase()}`;
  return quote(String(about.example ?? about.default ?? ''));
}

const quote = (text: string): string => (/^[A-Za-z][A-Za-z0-9_./:@-]*$/.test(text) ? text : JSON.stringify(text));

function settingsTable({ settings = {} }: TargetFile): string {
  const rows = Object.entries(settings).map(([name, about]) => [
    [name, ...(about.aliases ?? [])].map(code).join(', '),
    [about.secret === true ? 'secret' : '', about.required === true ? 'required' : ''].filter(Boolean).join(', '),
    about.help,
    about.default === undefined ? '' : code(String(about.default)),
  ]);
  return rows.length === 0 ? '' : `${table(['Setting', '', 'Meaning', 'Default'], rows)}\n`;
}

function addressTable(file: TargetFile): string {
  const rows = variantsOf(file).flatMap(({ title, address }) =>
    Object.entries(address).map(([name, { help }]) => {
      const keys = name === 'thread' ? ['message_thread_id', 'thread_id'] : [name];
      const isShared = Object.hasOwn(file.address ?? {}, name) || title === '';
      return [keys.map(code).join(', '), isShared ? help : `${title}: ${help}`];
    }),
  );
  const distinct = unique(rows.map((row) => JSON.stringify(row))).map((row) => JSON.parse(row) as string[]);
  return rows.length === 0 ? '' : `${table(['`deliver_extra`', 'Meaning'], distinct)}\n`;
}

function contentTable({ content = {} }: TargetFile): string {
  const rows = Object.entries(content).map(([name, { kind = 'text', help, values, members = {} }]) => {
    const of = kind === 'objects' ? `, each with ${Object.keys(members).map(code).join(', ')}` : '';
    const what = kind === 'text' ? '' : kind === 'list' ? 'A list of texts. ' : `A list${of}. `;
    return [code(name), `${what}${help}${values === undefined ? '' : ` One of ${values.map(code).join(', ')}.`}`];
  });
  return rows.length === 0 ? '' : `${table(['Field of an output', 'Meaning'], rows)}\n`;
}

/** Returns limits that follow from the file. */
function limits(file: TargetFile): readonly string[] {
  if ((file.driver ?? 'http') !== 'http') return [];
  const ways = variantsOf(file);
  const said = ways.flatMap((way) => {
    const who = ways.length === 1 ? '' : ` (${way.title})`;
    const limit = describeLimit(way.text);
    const pace = way.pacing.map(({ per, messages, seconds }) => {
      return `${messages} message${messages === 1 ? '' : 's'} in ${describeSeconds(seconds)} ${PER[per]}`;
    });
    return [
      limit === ''
        ? []
        : [
            `A message has at most ${limit}; a longer text is ${way.text.overflow === 'truncate' ? 'truncated' : 'split'}${who}.`,
          ],
      pace.length === 0 ? [] : [`Limited to ${pace.join(', ')}${who}.`],
    ].flat();
  });
  return unique(
    said.map((one) =>
      ways.length > 1 && said.filter((other) => plain(other) === plain(one)).length === ways.length
        ? `${plain(one)}.`
        : one,
    ),
  );
}

/** The window of a request that has the same effect when repeated. */
const YEAR = 31_536_000;

const plain = (text: string): string => text.replace(/( \([^()]*\))?\.$/, '');
const PER: Readonly<Record<TargetPace['per'], string>> = { chat: 'per chat', credentials: 'with the same credentials' };

const UNITS: Readonly<Record<NonNullable<TargetText['unit']>, string>> = {
  utf16: 'characters (UTF-16 units)',
  codepoint: 'characters (code points)',
  byte: 'bytes of UTF-8',
  json_byte: 'bytes, escaped for JSON',
};

const describeLimit = ({ limit, unit = 'utf16' }: TargetText): string =>
  limit === undefined ? '' : `${limit} ${UNITS[unit]}`;

function describeSeconds(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 && seconds > 60 ? `${seconds / 60} min` : `${seconds} s`;
}

function unverified(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `Not confirmed by the service's documentation:\n\n${list(lines)}`;
}

const list = (lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${lines.map((line) => `- ${line.trim()}`).join('\n')}\n`;
const unique = (texts: readonly string[]): string[] => [...new Set(texts.filter((text) => text !== ''))];
const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replace(/ /g, '-');

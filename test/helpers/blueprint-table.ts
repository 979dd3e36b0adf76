/**
 * Reads the catalog table of §2.8 from its text: the specification if it is available, else the fixture made from it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

export interface TableField {
  readonly name: string;
  readonly type: string;
  /** Null if the table describes a text instead of giving it. */
  readonly default: string | null;
  /** Null if the table leaves them to the field's type. */
  readonly options: readonly string[] | null;
}

export interface TableRow {
  readonly key: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly fields: readonly TableField[];
  readonly schedule: string;
  readonly human: string;
}

const FIXTURE = new URL('../fixtures/blueprint-table.md', import.meta.url);
const SPECIFICATION = join(ROOT, '../shared/spec/system.md');

const unquote = (cell: string): string => cell.replace(/^`(.*)`$/, '$1');

/** `time: time, 08:00; day: enum, sunday, [sunday,monday]`: split outside of brackets. */
function splitOutside(text: string, separator: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const char of text) {
    if (char === '[' || char === '(') depth += 1;
    if (char === ']' || char === ')') depth -= 1;
    if (char === separator && depth === 0) parts.push('');
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function parseField(text: string): TableField {
  const [name = '', rest = ''] = text.split(/: (.*)/s);
  const [type = '', value = '', options] = splitOutside(rest.replace(/\s*\((?!help)[^)]*\)$/, ''), ',');
  const isDescribed = type === 'text';
  return {
    name,
    type,
    default: isDescribed ? null : unquote(value),
    options: options?.startsWith('[') ? options.slice(1, -1).split(/,\s*/) : null,
  };
}

function parseRow(line: string): TableRow {
  const [key = '', category = '', tags = '', fields = '', schedule = '', human = ''] = line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
  return {
    key: unquote(key),
    category,
    tags: tags.split(', '),
    fields: splitOutside(fields, ';').map(parseField),
    schedule: unquote(schedule),
    human,
  };
}

function tableLines(text: string): readonly string[] {
  const lines = text.split('\n');
  const head = lines.findIndex((line) => /^\|\s*key\s*\|\s*category\s*\|/.test(line));
  if (head === -1) throw new Error('the catalog table is not there');
  const body = lines.slice(head + 2);
  const end = body.findIndex((line) => !line.startsWith('|'));
  return end === -1 ? body : body.slice(0, end);
}

/** Every available source of the table: the fixture, and the specification if it is available. */
export function tableSources(): readonly { readonly name: string; readonly rows: readonly TableRow[] }[] {
  return [FIXTURE, SPECIFICATION]
    .filter((url) => existsSync(url))
    .map((url) => ({
      name: url === FIXTURE ? 'the fixture' : 'the specification',
      rows: tableLines(readFileSync(url, 'utf8')).map(parseRow),
    }));
}

/**
 * Changes values in a YAML file a person wrote by changing only their characters: comments, order, quotes and layout of
 * everything else stay as they are. Each result is read back and compared with what it should say; when they differ, or
 * a comment would get lost, the edit is refused and nothing is guessed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Document } from 'yaml';
import { isMap, Lexer, parseDocument } from 'yaml';
import { CliError } from '../base/errors.ts';
import type { YamlEdit } from './yaml-splice.ts';
import { isEmpty, splice } from './yaml-splice.ts';

export type { YamlEdit };

/** @throws CliError when the text is not YAML, or the edit cannot be made without touching anything else. */
export function editYaml(name: string, text: string, edits: readonly YamlEdit[]): string {
  return edits.reduce((edited, edit) => applyEdit(name, edited, edit), text);
}

/** The data of a file. @throws CliError with the place at which it stops being a map of settings in YAML */
export const readYaml = (name: string, text: string): unknown => parse(name, text).toJS() ?? {};

function applyEdit(name: string, text: string, { path, value }: YamlEdit): string {
  const document = parse(name, text);
  const before: unknown = document.toJS() ?? {};
  const wanted = withValue(before, path, value);
  if (isDeepStrictEqual(wanted, before)) return text;
  const { from, to, text: inserted } = splice(name, text, document, { path, value });
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const edited = text.slice(0, from) + inserted.replaceAll('\n', newline) + text.slice(to);
  const kept = comments(edited);
  const lost = comments(text).find((comment) => !take(kept, comment));
  if (lost !== undefined) {
    throw new CliError(`${name}: changing ${path.join('.')} would lose the comment "${lost}"`, 'change it by hand');
  }
  if (!isDeepStrictEqual(parseDocument(edited).toJS() ?? {}, wanted)) {
    throw new CliError(
      `${name}: ${path.join('.')} cannot be changed without touching what is around it`,
      'change it by hand',
    );
  }
  return edited;
}

/** The data as it should be after the edit. */
function withValue(data: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const map = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  const { [key]: old, ...others } = map;
  const inner = withValue(old, rest, value);
  return inner === undefined ? others : { ...others, [key]: inner };
}

function parse(name: string, text: string): Document.Parsed {
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const before = text.slice(0, error.pos[0]).split('\n');
    const place = `${name}:${before.length}:${(before.at(-1) ?? '').length + 1}`;
    throw new CliError(`${place}: ${error.message}`, 'correct it first: hookwright lint shows where');
  }
  const { contents } = document;
  if (contents !== null && !isMap(contents) && !isEmpty(contents)) {
    throw new CliError(`${name} does not hold a map of settings`);
  }
  return document;
}

/** The comments of a text, without the white space around them. */
function comments(text: string): string[] {
  const found: string[] = [];
  let scalar = false;
  for (const token of new Lexer().lex(text)) {
    // The lexer marks scalars: what follows the mark is text, even when it begins like a comment.
    if (!scalar && token.startsWith('#')) found.push(token.trim());
    scalar = token === '\u001f';
  }
  return found;
}

function take(list: string[], item: string): boolean {
  const at = list.indexOf(item);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}

/**
 * The result of a conversion: a config, variables, programs and a report of carried, changed and lost keys. Conversions
 * are pure.
 */
import type { NodePath } from '../../../compiler/diagnostics/diagnostic.ts';
import type { Position } from '../../../compiler/print/lines.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import { fileTree } from '../../../compiler/source/find-place.ts';
import type { ParsedFile } from '../../../compiler/source/parse-yaml.ts';
import { parseYaml } from '../../../compiler/source/parse-yaml.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';

/** A converted route. */
export interface ConvertedRoute {
  readonly name: string;
  /** Its name in the foreign config. */
  readonly from: string;
  /** Its path in the foreign config. */
  readonly path: NodePath;
  /** False if the route answers 403 until someone has reviewed it. */
  readonly open: boolean;
}

export interface Conversion {
  /** Text of `hookwright.yaml`, which compiles. */
  readonly config: string;
  /** Secrets and other variables for `.env`, by name; null if the value is unknown. */
  readonly variables: ReadonlyMap<string, string | null>;
  /** Programs that the config runs, by path relative to `<home_dir>`. */
  readonly programs: ReadonlyMap<string, string>;
  readonly routes: readonly ConvertedRoute[];
  /** Every key of the foreign config, in file order. */
  readonly entries: readonly Entry[];
  /** Differences that concern all routes, as sentences. */
  readonly notes: readonly string[];
}

/** Why a text cannot be converted. Never contains a value from the text. */
interface Fault {
  /** Offset in the text. */
  readonly start: number;
  readonly message: string;
  readonly hint?: string;
}

export interface ConversionRefusal {
  readonly faults: readonly Fault[];
}

/** A compiler error or warning. */
export interface Complaint {
  readonly rule: string;
  readonly severity: 'error' | 'warning' | 'hint';
  /** Offset in the text. */
  readonly start: number;
  readonly message: string;
}

/** Functions that a conversion calls. */
export interface Tools {
  /** Compiles a config from memory. */
  readonly check: (config: string) => readonly Complaint[];
  readonly newSecret: () => string;
}

/** What happened to a key of a foreign config. */
export type Fate = 'carried' | 'changed' | 'lost';

export interface Entry {
  readonly fate: Fate;
  /** Path of the key in the foreign file. */
  readonly path: NodePath;
  readonly place: Position;
  /** Name of the converted route that the key belongs to, or null. */
  readonly route: string | null;
  /** Why it was changed or lost; empty if it was carried over. Never contains a value from the file. */
  readonly reason: string;
  /** What the user can do about it, or empty. */
  readonly instead: string;
}

/** Receives the fate of each key of the foreign file. Parameters are as in `Entry`. */
export interface KeyReport {
  carried(path: NodePath): void;
  changed(path: NodePath, reason: string, instead?: string): void;
  lost(path: NodePath, reason: string, instead?: string): void;
  /** The text of a number of the foreign file. */
  written(path: NodePath): string | null;
}

/** Its own methods are for keys that belong to no route. */
export interface ConversionReport extends KeyReport {
  /** For the keys of one converted route. */
  ofRoute(name: string): KeyReport;
  /** In file order. */
  entries(): readonly Entry[];
  placeOf(path: NodePath): Position;
}

export function createConversionReport(file: ParsedFile): ConversionReport {
  const places = fileTree(file);
  const lines = createLines();
  const entries: Entry[] = [];
  const placeOf = (path: NodePath): Position => {
    const { key, value } = places.place(path);
    return lines.positionOf(file.source, (key ?? value).start);
  };
  const keyReport = (route: string | null): KeyReport => {
    const note =
      (fate: Fate) =>
      (path: NodePath, reason = '', instead = ''): void => {
        entries.push({ fate, path, place: placeOf(path), route, reason, instead });
      };
    const written = (path: NodePath): string | null => places.place(path).plain;
    return { carried: note('carried'), changed: note('changed'), lost: note('lost'), written };
  };
  return {
    ...keyReport(null),
    ofRoute: keyReport,
    entries: () => entries.toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column),
    placeOf,
  };
}

/** Returns syntax errors as a refusal. */
export function parseForeign(source: SourceText): ParsedFile | ConversionRefusal {
  const { file, findings } = parseYaml(source);
  if (file !== null && findings.length === 0) return file;
  // The text after `*` is not repeated: it may be an unquoted secret.
  const alias = 'this alias has no anchor: quote a value that begins with `*`';
  const faults = findings.map(({ rule, range: { start }, message }) => ({
    start,
    message: rule === 'yaml-alias' ? alias : message,
  }));
  return { faults };
}

/** A refusal of the whole text. */
export const refuseText = (message: string, hint?: string): ConversionRefusal => ({
  faults: [{ start: 0, message, ...(hint === undefined ? {} : { hint }) }],
});

/** Returns a route name that none of these routes has. */
export function routeName(routes: readonly { readonly name: string }[], from: string): string {
  const plain = from
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, 60);
  const usedNames = new Set(routes.map(({ name }) => name));
  const base = plain === '' ? 'route' : plain;
  if (!usedNames.has(base)) return base;
  let number = 2;
  while (usedNames.has(`${base}-${number}`)) number++;
  return `${base}-${number}`;
}

/** Returns `GITHUB_PR_SECRET` for the parts `github-pr` and `secret`. */
export function variableName(...parts: readonly string[]): string {
  const name = parts
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return /^[A-Z]/.test(name) ? name : `HOOK_${name}`;
}

/** Why a route has another name than in the original. */
export const renamed = (name: string): string =>
  `route names consist of lower-case letters, digits, \`-\` and \`_\`: this route is now ${name}`;

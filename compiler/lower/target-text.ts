/**
 * Lowers the texts of a target file (`Bearer {token}`), its settings and its address fields, and checks that each value
 * may be used in its place.
 */

import { RE2JSSyntaxException } from 're2js';
import { splitField } from '../../base/paths.ts';
import type {
  AddressPlan,
  SettingPlan,
  TargetAddress,
  TargetSettings,
  TargetVariant,
  ValueRef,
  ValueSegment,
  ValueTemplate,
} from '../../schemas/generated/types.ts';
import type { TextPlace, TextScope } from '../config/target-entries.ts';
import { COMMON_KEYS, DELIVERY_VALUES, RESERVED_VALUES } from '../config/target-entries.ts';
import type { NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { linearRegex } from '../globs/linear-glob.ts';

/** The context in which texts of a target file are lowered. */
export interface TargetScope extends TextScope {
  /** Headers of all requests of the variant. */
  readonly headers: NonNullable<TargetVariant['headers']>;
  readonly report: (problem: Problem) => void;
}

/** Returns the pattern if it is valid RE2; else reports a problem and returns null. */
export function lowerPattern(pattern: string, path: NodePath, scope: TargetScope): string | null {
  try {
    linearRegex(pattern);
    return pattern;
  } catch (error) {
    const why = error instanceof RE2JSSyntaxException ? error.getDescription() : 'not understood';
    const message = `${JSON.stringify(pattern)} is not an RE2 expression: ${why}`;
    scope.report({ rule: 'target-pattern', path, at: 'value', message });
    return null;
  }
}

/** Names of the groups in a pattern, `(?P<name>…)` or `(?<name>…)`. */
export function groupNames(pattern: string): string[] {
  return [...pattern.matchAll(/\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>/g)].map((match) => match[1] ?? '');
}

/** Splits a dotted path; `.` is the value itself. */
export function splitPath(path: string): string[] {
  return path === '.' ? [] : splitField(path);
}

/** Whether the whole text matches a valid pattern. */
export function fullMatch(pattern: string, text: string): boolean {
  return linearRegex(pattern).matches(text);
}

const PLACEHOLDER = /\{([a-z][a-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)(\?)?\}/g;

/** Braces around anything that is not a name are literal text. */
export function lowerText(
  text: string,
  place: { readonly at: TextPlace; readonly path: NodePath },
  scope: TargetScope,
): ValueTemplate {
  const segments: ValueSegment[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [written, name = '', mark] = match;
    if (match.index > end) segments.push({ kind: 'text', text: text.slice(end, match.index) });
    end = match.index + written.length;
    const value = resolve(name, scope);
    const optional = mark === '?';
    const within = { offset: match.index, length: written.length };
    const message = value === null ? unknownName(name, scope) : misplaced(name, { of: value.of, optional }, place.at);
    if (message !== null) scope.report({ rule: 'target-value', path: place.path, at: 'value', within, message });
    else if (value !== null) segments.push({ kind: 'value', ...value, optional });
  }
  if (end < text.length) segments.push({ kind: 'text', text: text.slice(end) });
  return segments;
}

function resolve(name: string, scope: TargetScope): Pick<ValueRef, 'of' | 'name' | 'secret'> | null {
  if (name.startsWith('match.')) {
    const group = name.slice('match.'.length);
    return scope.groups.includes(group) ? { of: 'match', name: group, secret: false } : null;
  }
  const of = DELIVERY_VALUES.find((builtin) => builtin === name);
  if (of !== undefined) {
    if (of === 'exchanged_token' && !scope.has.exchange) return null;
    if ((of === 'jwt' || of === 'installation') && !scope.has.jwt) return null;
    if ((of === 'signature' || of === 'timestamp') && !scope.has.signature) return null;
    return { of, name: '', secret: of === 'exchanged_token' || of === 'signature' || of === 'jwt' };
  }
  if (Object.hasOwn(scope.settings, name)) {
    return { of: 'setting', name, secret: scope.settings[name]?.secret === true };
  }
  if (Object.hasOwn(scope.content, name)) return { of: 'content', name, secret: false };
  if (name === 'chat_id' || name === 'thread' || Object.hasOwn(scope.address, name)) {
    return { of: 'address', name, secret: false };
  }
  return null;
}

const HEADER = ['setting', 'exchanged_token', 'timestamp', 'signature', 'key', 'piece', 'pieces'] as const;
const PATH = [...HEADER, 'address', 'match', 'found', 'page', 'since'] as const;

/** The values that each place may contain, and the message for others. */
const PLACES: Readonly<Record<TextPlace, readonly [allowed: readonly ValueRef['of'][], otherwise: string]>> = {
  base: [['setting'], 'a base URL may contain only settings'],
  basic: [['setting'], 'user name and password must be settings'],
  header: [HEADER, 'a header may not contain values of the delivery'],
  path: [PATH, 'a path may not contain the text of the message'],
  content: [
    [...PATH, 'text', 'marker', 'marks', 'content', 'commit', 'approval'],
    'the hidden mark of posts may be only in the text of a message',
  ],
  signature: [['setting', 'timestamp'], 'a signature may use only settings and the timestamp'],
  exchange: [['setting', 'jwt', 'installation'], 'a token request may use only settings'],
  installation: [['setting', 'jwt', 'match'], '`installation` may use only settings and parts of the address'],
};

function unknownName(name: string, scope: TextScope): string {
  if (name === 'jwt' || name === 'installation') return `\`{${name}}\` needs an \`exchange\` with \`jwt\``;
  if (name === 'exchanged_token') return '`{exchanged_token}` needs an `exchange`';
  if (name === 'signature' || name === 'timestamp') return `\`{${name}}\` needs a \`signature\``;
  if (name.startsWith('match.'))
    return `\`{${name}}\` needs a group (?P<${name.slice(6)}>…) in \`when.chat_id\` or in a pattern of the address`;
  const known = [
    ...Object.keys(scope.settings),
    'chat_id',
    'thread',
    ...Object.keys(scope.address),
    ...Object.keys(scope.content),
    'text',
    'key',
  ];
  return `\`{${name}}\` is unknown; available are ${[...new Set(known)].join(', ')}`;
}

function misplaced(
  name: string,
  { of, optional }: { readonly of: ValueRef['of']; readonly optional: boolean },
  at: TextPlace,
): string | null {
  if (at === 'path' && optional)
    return `\`{${name}?}\`: a part of a path cannot be optional; write a request for each form`;
  const [allowed, otherwise] = PLACES[at];
  return allowed.includes(of) ? null : `\`{${name}}\` is not allowed here: ${otherwise}`;
}

/** Lowers the settings and address fields of a target file. */
export function lowerSettings(settings: TargetSettings, path: NodePath, scope: TargetScope): SettingPlan[] {
  checkNames(settings, path, scope);
  return Object.entries(settings).map(([name, setting]) => {
    const aliases = setting.aliases ?? [];
    const { pattern, lines = false } = setting;
    return {
      name,
      aliases,
      secret: setting.secret ?? false,
      required: setting.required ?? false,
      default: setting.default === undefined ? null : String(setting.default),
      pattern: pattern === undefined ? null : lowerPattern(pattern, [...path, name, 'pattern'], scope),
      ...(lines ? { lines } : {}),
    };
  });
}

export function lowerAddress(address: TargetAddress, path: NodePath, scope: TargetScope): AddressPlan[] {
  for (const name of Object.keys(address)) {
    const isSetting = Object.hasOwn(scope.settings, name);
    if (!isSetting && !RESERVED_VALUES.includes(name)) continue;
    const message = `\`${name}\` is already the name of ${isSetting ? 'a setting' : 'a value of the delivery'}`;
    scope.report({ rule: 'target-address', path: [...path, name], at: 'key', message });
  }
  return Object.entries(address).map(([name, field]) => {
    const pattern = field.pattern;
    return {
      name,
      required: field.required ?? false,
      pattern: pattern === undefined ? null : lowerPattern(pattern, [...path, name, 'pattern'], scope),
    };
  });
}

/** Whether each name of a setting means only this setting. */
function checkNames(settings: TargetSettings, path: NodePath, scope: TargetScope): void {
  const owners = new Map<string, string>();
  for (const [name, { aliases = [] }] of Object.entries(settings)) {
    for (const one of [name, ...aliases]) {
      const message = takenName(one, owners.get(one)) ?? (one === name ? reservedName(one) : null);
      owners.set(one, name);
      if (message !== null) scope.report({ rule: 'target-setting', path: [...path, name], at: 'key', message });
    }
  }
}

/** `api_base` may be the name of a setting, to describe it. */
const isCommonKey = (name: string): boolean => name !== 'api_base' && COMMON_KEYS.includes(name);

function takenName(name: string, owner: string | undefined): string | null {
  if (owner !== undefined) return `\`${name}\` already names the setting \`${owner}\``;
  return isCommonKey(name) ? `\`${name}\` is a key of every target's config` : null;
}

/** Aliases are not used in texts, so they may have these names. */
function reservedName(name: string): string | null {
  if (RESERVED_VALUES.includes(name) || name === 'chat_id' || name === 'thread') {
    return `\`${name}\` is the name of a value of the delivery; call the setting something else`;
  }
  return null;
}

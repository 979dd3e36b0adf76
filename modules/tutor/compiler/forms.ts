/**
 * Values in the forms of other programs, and what to write instead. To add a form, add a row. `slips.ts` finds the first row
 * that fits a value of the wrong type, or an unknown key with its value.
 */
import { PROXIES } from '../../../compiler/config/settings.ts';
import { isSecretName } from '../../../compiler/text/secret-ref.ts';
import type { PlainMap, Written } from './read-values.ts';
import {
  addressIn,
  agentIn,
  argumentsIn,
  CONDITION,
  conditionHint,
  conditionIn,
  conditionOf,
  eventsIn,
  hostIn,
  isCertain,
  isOneCondition,
  isOnlyTypes,
  linesIn,
  networksIn,
  numberIn,
  portIn,
  referenceIn,
  targetIn,
  truthIn,
  valuesIn,
  variablesIn,
} from './read-values.ts';

/** A value in the form that another program reads. */
export interface Form {
  /** Any key, if absent. */
  readonly keys?: string;
  /** A key that the schema knows: in the value, or beside an unknown key. */
  readonly beside?: string;
  /** Types of the value. */
  readonly found?: string;
  /** A type that the value may have. */
  readonly wants?: string;
  /** All types that the value may have. */
  readonly only?: string;
  /** The requirement for the value, if its types do not state it. */
  readonly must?: string;
  /** Keys and values to write instead; the first of them replaces the value. Null if the meaning is unclear. */
  readonly read?: (written: Written) => PlainMap | null;
  /** Put the value in quotes instead. */
  readonly isQuoted?: true;
  /** What to do if the meaning is unclear. Without a hint, the next row is tried. */
  readonly hint?: string | ((written: Written) => string | undefined);
  /** Whether the meaning is certain enough for a fix. */
  readonly isSure?: (written: Written, lines: PlainMap) => boolean;
  /** The new keys replace the whole map. */
  readonly isWhole?: true;
  /** An additional hint. */
  readonly also?: string;
}

/** Values of a type that the schema rejects. */
export const VALUES: readonly Form[] = [
  {
    keys: 'deliver',
    found: 'object',
    read: targetIn,
    hint: 'write `deliver: telegram`, and the address as `deliver_extra: { chat_id: "-1001234" }`',
  },
  {
    keys: 'events',
    found: 'object',
    wants: 'array',
    read: eventsIn,
    isSure: ({ value }, { filters }) =>
      isOnlyTypes(value) && (filters === undefined || Object.keys(Object(value)).length === 1),
  },
  { keys: 'env', found: 'array', read: variablesIn, hint: 'write `NAME: value` for each, below `env:`' },
  // `8080:8644` has two ports, and an address would be lost.
  { keys: 'port', found: 'string array', read: portIn, isSure: ({ value }) => !String(value).includes(':') },
  { keys: 'deliver_extra', found: 'array string number', read: addressIn },
  // A bare word may be another field.
  {
    beside: 'not_equals',
    found: 'string',
    read: conditionIn,
    hint: CONDITION,
    isSure: ({ value }) =>
      /(?:["']|\s(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?))$/.test(String(value).trim()) &&
      isCertain(/\s(matches)\s/.exec(String(value))?.[1] ?? '', value),
  },
  {
    keys: 'command',
    found: 'string',
    only: 'array',
    read: argumentsIn,
    also: 'no shell reads it: each argument must be a separate entry',
    hint: 'write one entry for each argument, e.g. `command: [sh, -c, "my-agent | tee log"]` if you need a shell',
  },
  {
    keys: 'agent',
    found: 'string',
    wants: 'object',
    read: agentIn,
    // It may be the name of one of them.
    isSure: ({ map }) => map.agents === undefined,
    hint: 'write the program as `command: [program, argument]` below it',
  },
  { keys: 'trusted_proxies', found: 'string', only: 'array', read: networksIn, hint: PROXIES },
  // A value of a filter may contain a comma.
  {
    found: 'string',
    only: 'array',
    read: valuesIn,
    isSure: ({ key, value }) => key !== 'in' || !/,/.test(String(value)),
  },
  {
    keys: 'prompt',
    found: 'array',
    wants: 'string',
    read: linesIn,
    also: 'write a multi-line text below `prompt: |`, indented',
  },
  { found: 'array', wants: 'string', read: linesIn },
  {
    found: 'object',
    wants: 'string',
    read: referenceIn,
    hint: ({ key }) =>
      isSecretName(key) ? `write \`${key}: env:NAME\` with the name of a variable, or \`file:path\`` : undefined,
  },
  // A quoted `true` is not a reason.
  { keys: 'accept_untrusted confined', found: 'number boolean', only: 'string', must: 'be a reason in words' },
  {
    keys: 'secret',
    found: 'boolean',
    hint: 'write `secret: env:NAME`, or `secret: INSECURE_NO_AUTH` to accept unsigned requests on a loopback address',
  },
  { found: 'number boolean', only: 'string', isQuoted: true },
  { found: 'string', wants: 'boolean', read: truthIn },
  {
    found: 'string',
    only: 'integer number',
    read: numberIn,
    // The meaning of a unit of size or rate is likely, but not certain.
    isSure: ({ key, value }) => key.endsWith('_seconds') || !/\d\s*[a-z/]/i.test(String(value)),
  },
];

/** Values of unknown keys, which are written with other keys. */
export const OTHER_KEYS: readonly Form[] = [
  {
    keys: 'on',
    beside: 'events',
    found: 'object',
    read: eventsIn,
    also: 'actions are values of a field, and filters look at fields',
  },
  {
    keys: 'listen bind address addr ports',
    beside: 'port',
    read: hostIn,
    hint: 'write `host: 127.0.0.1` and `port: 8644`',
  },
  {
    beside: 'not_equals',
    isWhole: true,
    read: conditionOf,
    hint: conditionHint,
    isSure: isOneCondition,
    also: 'a filter names its `field`, and one operator with its value; a field that holds a list is tested with `any_of`',
  },
];

/** Checks the options of a service, for programs without types. */
import { isAbsolute } from 'node:path';
import type { AgentFunctions } from '../dispatch/agents/create-agents.ts';
import type { ServiceOptions } from './options.ts';

type Check = (value: unknown) => boolean;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isRecord = (value: unknown): value is object => isObject(value) && !Array.isArray(value);
const isText: Check = (value) => typeof value === 'string';
const isPath: Check = (value) => typeof value === 'string' && isAbsolute(value);
const isFunction: Check = (value) => typeof value === 'function';
const isPort: Check = (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;
const has =
  (...methods: readonly string[]): Check =>
  (value) =>
    isObject(value) && methods.every((name) => isFunction((value as Readonly<Record<string, unknown>>)[name]));

function isZone(value: unknown): boolean {
  try {
    return isText(value) && Intl.DateTimeFormat('en', { timeZone: String(value) }) !== null;
  } catch {
    return false;
  }
}

export const functionsOf = (agent: ServiceOptions['agent']): AgentFunctions =>
  agent === undefined ? {} : typeof agent === 'object' && agent !== null ? agent : { default: agent };

const FUNCTION = [isFunction, 'a function'] as const;

/** What each option has to be. */
const OPTIONS: Readonly<Record<keyof ServiceOptions, readonly [check: Check, what: string]>> = {
  table: [
    (value) => isObject(value) && (!('file' in value) || isPath(value.file)),
    'a compiled table, or { file }, an absolute path',
  ],
  home: [isPath, 'an absolute path'],
  blueprints: [(value) => Array.isArray(value) && value.every(isObject), 'a catalog, as the compiler returns it'],
  env: [
    (value) => isRecord(value) && Object.values(value).every((each) => each === undefined || isText(each)),
    'an object of texts',
  ],
  agent: [
    (value) => !Array.isArray(value) && Object.values(functionsOf(value as ServiceOptions['agent'])).every(isFunction),
    'a function, or functions by name ({ default, … })',
  ],
  host: [isText, 'a text'],
  port: [isPort, 'an integer from 0 to 65535'],
  lowerSubscriptions: FUNCTION,
  version: [isText, 'a text'],
  problem: FUNCTION,
  timezone: [isZone, 'an IANA zone, such as Europe/Vienna'],
  projectEnv: [isPath, 'an absolute path'],
  log: [has('debug', 'info', 'warn', 'error'), 'an object with debug, info, warn and error'],
  redactor: [has('add', 'redact'), 'a Redactor'],
  clock: [has('now', 'monotonic', 'after'), 'an object with now, monotonic and after'],
  run: FUNCTION,
  hidden: FUNCTION,
  random: FUNCTION,
  checkSecrets: FUNCTION,
  onSecretsRead: FUNCTION,
};

const REQUIRED: readonly string[] = ['table', 'home'] satisfies readonly (keyof ServiceOptions)[];

/** @throws TypeError naming the first option that is of another kind, and what it has to be, or that there is not */
export function checkOptions(options: ServiceOptions): void {
  if (!isRecord(options)) throw new TypeError('createService: an object of options, with table and home');
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) throw new TypeError(`createService: there is no option ${unknown}`);
  for (const [name, [check, what]] of Object.entries(OPTIONS)) {
    const value: unknown = options[name as keyof ServiceOptions];
    if (value === undefined ? REQUIRED.includes(name) : !check(value))
      throw new TypeError(`createService: ${name}: ${what}`);
  }
}

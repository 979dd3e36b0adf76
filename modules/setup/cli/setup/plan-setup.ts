/** Turns answers into edits of the configuration file and lines of `.env`, without writing them. */

import { resolve } from 'node:path';
import { isSystemError } from '../../../../base/errors.ts';
import { readRegularTextSync } from '../../../../base/files.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { UsageError } from '../../../../cli/base/errors.ts';
import { applyFlags } from '../../../../cli/subscriptions/save-entry.ts';
import { isGlob } from '../../../../compiler/globs/linear-glob.ts';
import { nodeFiles } from '../../../../compiler/node/node-files.ts';
import { valueAt } from '../../../../compiler/schema/pointer.ts';
import { searchConfig, usualConfigs } from '../../../../compiler/source/search-config.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import { INSECURE_NO_AUTH } from '../../../../compiler/text/secret-ref.ts';
import type { RouteConfig } from '../../../../schemas/generated/types.ts';
import type { YamlEdit } from './edit-yaml.ts';
import type { SetupAnswers } from './wizard.ts';
import { GENERATE } from './wizard.ts';

export interface SetupPlan {
  readonly edits: readonly YamlEdit[];
  /** Variables for `<home_dir>/.env`, which stores the secrets that the configuration refers to. */
  readonly env: Readonly<Record<string, string>>;
}

/** The inputs of a plan besides the answers. */
interface SetupFacts {
  /** The current configuration. */
  readonly config: unknown;
  readonly generateSecret: () => string;
}

const WEBHOOK = ['platforms', 'webhook'];
const GLOBAL_SECRET = 'WEBHOOK_SECRET';

export function planSetup(answers: SetupAnswers, facts: SetupFacts): SetupPlan {
  const env: Record<string, string> = {};
  const edits: YamlEdit[] = [];
  for (const [key, value] of Object.entries(answers.webhook)) {
    edits.push({ path: key === 'enabled' ? [...WEBHOOK, key] : webhookPath(facts.config, key), value });
  }
  if (answers.secret !== undefined) {
    edits.push({
      path: webhookPath(facts.config, 'secret'),
      value: keepSecret(env, GLOBAL_SECRET, answers.secret, facts.generateSecret),
    });
  }
  if (answers.route !== undefined) {
    const { name, flags } = answers.route;
    const secret = flags.secret && keepSecret(env, variableOf(`${name}_secret`), flags.secret, facts.generateSecret);
    edits.push(routeEdit({ name, flags: { ...flags, secret } }, facts.config));
  }
  for (const { path, value } of withConsoleToken(answers.settings, facts.config)) {
    const variable = TOKENS[path.join('.')];
    const isToken = variable !== undefined && typeof value === 'string';
    const secretValue = isToken ? keepSecret(env, variable, value, facts.generateSecret) : value;
    edits.push({ path, value: secretValue });
  }
  return { edits, env };
}

const CONSOLE = ['gateway', 'console'];
export const CONSOLE_TOKEN = 'CONSOLE_TOKEN';
/** Variables for the settings that are secrets. */
const TOKENS: Readonly<Record<string, string>> = {
  [`${CONSOLE.join('.')}.token`]: CONSOLE_TOKEN,
  [`${CONSOLE.join('.')}.viewer_token`]: 'CONSOLE_VIEWER_TOKEN',
};

/** Adds a token to a new console. */
function withConsoleToken(settings: SetupAnswers['settings'], config: unknown): SetupAnswers['settings'] {
  const token = [...CONSOLE, 'token'];
  const given = settings.filter(({ path }) => CONSOLE.every((key, at) => path[at] === key));
  const isOff = given.every(({ path, value }) => path.length === CONSOLE.length && !isPlainMap(value));
  const has = given.some(({ path, value }) => path.join() === token.join() || valueAt(value, ['token']) !== undefined);
  if (isOff || has || valueAt(config, token) !== undefined) return settings;
  return [...settings, { path: token, value: GENERATE }];
}

/** The path of a setting of the adapter: in `extra` if it is used there (§2.1). */
function webhookPath(config: unknown, key: string): string[] {
  const inExtra = valueAt(config, [...WEBHOOK, 'extra', key]) !== undefined;
  const direct = valueAt(config, [...WEBHOOK, key]) !== undefined;
  const extra = isPlainMap(valueAt(config, [...WEBHOOK, 'extra']));
  return inExtra || (extra && !direct) ? [...WEBHOOK, 'extra', key] : [...WEBHOOK, key];
}

/** The reference for the configuration; a literal secret is stored in `.env`. */
function keepSecret(env: Record<string, string>, variable: string, value: string, generate: () => string): string {
  if (/^(env|file):/.test(value) || value === INSECURE_NO_AUTH) return value;
  env[variable] = value === GENERATE ? generate() : value;
  return `env:${variable}`;
}

const variableOf = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '_')
    .replace(/^(?=[0-9])/, '_');

/** An existing route keeps the settings that the answers do not name. */
function routeEdit({ name, flags }: NonNullable<SetupAnswers['route']>, config: unknown): YamlEdit {
  const places = [
    [...WEBHOOK, 'extra', 'routes', name],
    [...WEBHOOK, 'routes', name],
  ];
  const place = places.find((path) => valueAt(config, path) !== undefined);
  const before = place === undefined ? {} : (valueAt(config, place) as RouteConfig);
  return { path: place ?? [...webhookPath(config, 'routes'), name], value: applyFlags(before, flags) };
}

/** The config from `--config`, or else from the usual search, or else a new one in the home. @throws UsageError for several */
export function setupTarget({ cwd, home }: CliContext, configs: readonly string[] | undefined): string {
  const [named, ...others] = configs ?? [];
  if (others.length > 0 || (named !== undefined && isGlob(named))) {
    throw new UsageError('setup changes one file only', 'choose it: --config <path>');
  }
  if (named !== undefined) return resolve(cwd, named);
  return searchConfig(nodeFiles, { cwd, home }).root ?? usualConfigs({ cwd, home })[1];
}

/** Returns an empty text for a missing file. */
export function readOptionalFile(path: string): string {
  try {
    return readRegularTextSync(path);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return '';
    throw error;
  }
}

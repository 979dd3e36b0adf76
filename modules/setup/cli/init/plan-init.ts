/**
 * Plans the files that `init` writes from a template, and describes the steps at each sender. It reads only the shipped
 * templates and `.env` files.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnvLines } from '../../../../base/files.ts';
import { isLoopback } from '../../../../base/net.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { packageRoot } from '../../../../cli/base/context.ts';
import { setEnvLines } from '../../../../cli/files.ts';
import { visible } from '../../../../cli/output/print.ts';
import type { OpenSources } from '../../../../cli/sources/open-sources.ts';
import { openSources } from '../../../../cli/sources/open-sources.ts';
import { publicRouteUrl } from '../../../../cli/subscriptions/routes.ts';
import { displayPath } from '../../../../compiler/source/files.ts';
import { describeSecret, setupSteps } from '../../../../compiler/sources/describe-source.ts';
import { missingAgent } from '../../../../runtime/dispatch/agents/program.ts';
import { printSecretRef, secretFiles, userHome } from '../../../../runtime/platform/secrets.ts';
import type { RoutePlan, RouteTable, SecretRef } from '../../../../schemas/generated/types.ts';
import { readOptionalFile } from '../setup/plan-setup.ts';

/** Facts about the project for `planInit`. */
export interface InitFacts {
  /** Variables for the secrets of routes; a secret is generated for each. */
  readonly generated: readonly string[];
  /** Other variables of the configuration, which the user sets. */
  readonly wanted: readonly string[];
  /** The text of the existing `.env`, or empty. */
  readonly env: string;
  readonly newSecret: () => string;
}

export interface InitFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

const SCHEMA_FILE = 'hookwright.schema.json';

/** @param schema text of the JSON Schema for editors, written beside the configuration */
export function planInit(template: Template, schema: string, facts: InitFacts): readonly InitFile[] {
  const files = [...template.files].map(([name, text]): InitFile => {
    const own = name === 'hookwright.yaml' ? `${header(template.name)}${text}` : text;
    return { name, text: own, mode: 0o644 };
  });
  return [
    ...files,
    { name: '.env', text: envText(facts), mode: 0o600 },
    { name: SCHEMA_FILE, text: schema, mode: 0o644 },
  ];
}

/** The first line is for editors with the YAML language server. */
const header = (name: string): string =>
  `# yaml-language-server: $schema=./${SCHEMA_FILE}\n# Created by \`hookwright init\` from the template ${name}. \`hookwright lint\` checks it.\n`;

const ENV_HEADER = '# Variables for hookwright.yaml in this folder. Keep this file out of version control.\n';

/** Adds variables to `.env` and keeps existing values. */
function envText({ generated, wanted, env, newSecret }: InitFacts): string {
  const isSet = (name: string): boolean => new RegExp(`^\\s*(?:export\\s+)?#?\\s*${name}\\s*=`, 'm').test(env);
  const values = Object.fromEntries(generated.filter((name) => !isSet(name)).map((name) => [name, newSecret()]));
  const missing = wanted.filter((name) => !isSet(name)).map((name) => `# ${name}=`);
  const text = env === '' ? ENV_HEADER : env;
  const withSecrets = Object.keys(values).length === 0 ? text : setEnvLines(text, values);
  return missing.length === 0 ? withSecrets : `${withSecrets.replace(/\n?$/, '\n')}${missing.join('\n')}\n`;
}

const EXAMPLES = join(packageRoot(), 'examples');
const CONFIG = 'hookwright.yaml';

/** A template of `init`: a shipped example. */
export interface Template {
  readonly name: string;
  /** The first sentence of its config. */
  readonly about: string;
  /** Its requirements: the `# needs:` lines of its config. */
  readonly needs: readonly string[];
  /** Texts by name, the config first. */
  readonly files: ReadonlyMap<string, string>;
}

/** Sorted by name, after the one without requirements. */
export function readTemplates(): readonly Template[] {
  const names = readdirSync(EXAMPLES).filter((name) => readdirSync(join(EXAMPLES, name)).includes(CONFIG));
  return names.sort((a, b) => Number(b === FIRST) - Number(a === FIRST) || (a < b ? -1 : 1)).map(readTemplate);
}

/** The template without credentials and agent. */
const FIRST = 'quickstart';

function readTemplate(name: string): Template {
  const folder = join(EXAMPLES, name);
  const config = readFileSync(join(folder, CONFIG), 'utf8');
  const others = readdirSync(folder).filter((file) => file !== CONFIG && /\.(?:test\.yaml|json)$/.test(file));
  const files = new Map([CONFIG, ...others].map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
  const needs = [...config.matchAll(/^ *# needs: (.+)$/gm)].map(([, text = '']) => text);
  return { name, about: /^# (.+?)(?:\.(?= |$)|$)/m.exec(config)?.[1] ?? name, needs, files };
}

interface RoutesContext {
  readonly table: RouteTable;
  readonly sources: OpenSources;
  /** Where the value of a reference is stored, such as `in .env`. */
  readonly keptIn: (ref: SecretRef) => string;
}

/** The lines to print: a paragraph for each route. */
export function describeRoutes(routes: readonly RoutePlan[], context: RoutesContext): readonly string[] {
  const paragraphs = routes.flatMap((route) => ['', ...describeRoute(route, context)]);
  return isOutOfReach(routes, context) ? [...paragraphs, ...OUT_OF_REACH] : paragraphs;
}

/** Whether a route expects a remote sender at an address that only this machine can reach. */
const isOutOfReach = (routes: readonly RoutePlan[], { table: { server } }: RoutesContext): boolean =>
  server.public_url === null && isLoopback(server.host) && routes.some(({ source }) => source !== null);

const OUT_OF_REACH: readonly string[] = [
  '',
  'A sender on another machine cannot reach these URLs. Set up a proxy or a tunnel,',
  'and set `public_url` to its address: `hookwright docs proxies`',
];

function describeRoute(route: RoutePlan, { table, sources, keptIn }: RoutesContext): readonly string[] {
  const url = publicRouteUrl(route, { table, url: null });
  const secrets = route.secrets.map(({ ref }) => `${printSecretRef(ref)}, ${keptIn(ref)}`).join('; ');
  const secret = route.insecure ? 'none: signatures are not checked' : secrets;
  const source = route.source === null ? null : sources.find(route.source).file;
  const steps = source === null ? GENERIC : setupSteps(source);
  const form = source === null ? null : describeSecret(source);
  return [
    `${route.name}: ${visible(route.description ?? 'a route')}`,
    `  URL:    ${visible(url)}`,
    `  Secret: ${visible(secret)}${form === null ? '' : ` (${form})`}`,
    ...steps.map((step, index) => `  ${index + 1}. ${visible(step.replaceAll('{url}', url))}`),
  ];
}

/** For a route that accepts any sender with a common signature scheme. */
const GENERIC: readonly string[] = [
  'At the sender, enter `{url}` as the URL of the webhook, with content type JSON.',
  'Enter the secret there. `hookwright source list` lists the known senders, and `hookwright source show <name>` the steps for one.',
];

/** @param route the created route; undefined to describe all routes of the table */
export async function describeSetup(
  context: CliContext,
  table: RouteTable,
  route: string | undefined,
): Promise<readonly string[]> {
  const routes = Object.values(table.routes).filter(({ name }) => route === undefined || name === route);
  const sources = await openSources(context, undefined);
  const keptIn = (ref: SecretRef): string => whereKept(context, ref);
  const agent = table.profiles.default?.agent;
  const missing = agent === undefined ? null : missingAgent(agent, { folder: context.home, env: context.env });
  return [
    ...describeRoutes(routes, { table, sources, keptIn }),
    ...(routes.length === 0 ? ['', 'No routes yet. To create one: hookwright webhook subscribe <name>'] : []),
    ...(missing === null ? [] : ['', `The agent cannot run yet: ${missing}.`]),
  ];
}

/** Where the effective value of a reference is stored. */
function whereKept(context: CliContext, ref: SecretRef): string {
  if (ref.kind === 'literal') return 'in the configuration';
  const { home, projectEnv = null, env } = context;
  const files = secretFiles(ref, { home, projectEnv, userHome: userHome(env) });
  const shown = (path: string): string => displayPath(path, context.cwd);
  if (ref.kind === 'file') return `in ${files.map(shown).join()}`;
  if (ref.scope === 'default' && (env[ref.value] ?? '') !== '') return 'in the environment';
  const found = files.findLast((path) => (parseEnvLines(readOptionalFile(path)).values.get(ref.value) ?? '') !== '');
  return found === undefined ? `to be set in ${files.map(shown).join(' or ')}` : `in ${shown(found)}`;
}

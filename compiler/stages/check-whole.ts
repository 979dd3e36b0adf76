/** Runs the checks that concern the whole config: environment, settings, exposed secrets and lost digits. */
import { dirname, isAbsolute, join } from 'node:path';
import { holdsPassword } from '../../base/net.ts';
import type { GatewayConfig, JobConfig, ProfileConfig, RouteConfig } from '../../schemas/generated/types.ts';
import type { WrittenAgent } from '../config/agents.ts';
import { agentSecrets, gatewaySecrets, writtenAgents } from '../config/agents.ts';
import { deliveryOf } from '../config/route-keys.ts';
import type { EffectiveSettings } from '../config/settings.ts';
import { invalidVariables } from '../config/settings.ts';
import { platformPath, targetEntries } from '../config/target-entries.ts';
import type { NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { applyRules } from '../rules/support/rule.ts';
import type { Files } from '../source/files.ts';
import type { Places, Report } from '../source/find-place.ts';
import { placeholderIn } from '../text/placeholders.ts';
import { isPlainMap } from '../text/plain-data.ts';
import { INSECURE_NO_AUTH, isSecretName, parseSecretRef } from '../text/secret-ref.ts';
import { START } from '../text/source-text.ts';
import type { ConfigView } from '../views/views.ts';
import type { CheckedProfile } from './check-config.ts';

interface WholeConfig {
  readonly view: ConfigView;
  readonly tree: Places;
  /** Includes `default`, which has the root config's tree. */
  readonly profiles: readonly CheckedProfile[];
  readonly files: Files;
}

/** The source text that problems of variables refer to. */
const ENVIRONMENT = { path: 'environment', name: 'environment', text: '' };

export function checkWhole({ view, tree, profiles, files }: WholeConfig, report: Report): void {
  const { settings } = view;
  const invalid = invalidVariables((name) => view.variables.get(name)?.value);
  report.add(invalid.map((message) => ({ rule: 'invalid-environment', source: ENVIRONMENT, range: START, message })));
  report.addProblems(applyRules(view.scope.rules, 'config', view), tree);
  for (const { config, home, tree: own } of profiles) {
    const isRoot = own === tree;
    const rootSecrets = isRoot ? [...adapterSecrets(settings), ...literalGatewaySecrets(view.config.gateway)] : [];
    checkExposure([...rootSecrets, ...profileSecrets(config)], own, files, report);
    checkPrograms(config, join(view.scope.facts.home, home), { tree: own, files }, report);
    checkDigits([...(isRoot ? rootAddresses(view) : []), ...profileTexts(config)], own, report);
  }
}

/** The addresses of routes and of the gateway's own messages. */
const rootAddresses = ({ settings, config: { gateway = {} } }: ConfigView): readonly TextMap[] => [
  ...settings.routes.flatMap(({ config, path }) => addressesOf(config, path)),
  ...addressesOf(gateway.alerts, ['gateway', 'alerts']),
  ...addressesOf(gateway.approvals, ['gateway', 'approvals']),
];

/** The maps whose values are used as text: addresses of jobs, settings of targets. */
const profileTexts = ({ jobs = {}, platforms }: ProfileConfig): readonly TextMap[] => [
  ...Object.entries(jobs).flatMap(([name, job]) => addressesOf(job, ['jobs', name])),
  { value: platforms, path: ['platforms'] },
];

type Addressed = Pick<JobConfig, 'deliver_extra' | 'on_failure' | 'outputs'>;

/** All addresses of a part of the config. */
const addressesOf = ({ deliver_extra, on_failure, outputs = {} }: Addressed = {}, path: NodePath): TextMap[] => [
  { value: deliver_extra, path: [...path, 'deliver_extra'] },
  { value: on_failure?.deliver_extra, path: [...path, 'on_failure', 'deliver_extra'] },
  ...Object.entries(outputs).map(([name, output]) => ({
    value: deliveryOf(output).deliver_extra,
    path: [...path, 'outputs', name],
  })),
];

/** A map whose values become addresses or settings of a target. */
interface TextMap {
  readonly value: unknown;
  readonly path: NodePath;
}

/**
 * Warns about numbers in these maps, at any depth, that are used as text and lose digits: YAML reads `1712.50` as 1712.5.
 */
function checkDigits(maps: readonly TextMap[], tree: Places, report: Report): void {
  for (const { value, path } of maps.flatMap(numbersIn)) {
    const { file, value: range } = tree.place(path);
    const written = file.source.text.slice(range.start, range.end);
    report.addProblems(lostDigits(value, written, path), tree);
  }
}

function numbersIn({ value, path }: TextMap): readonly { readonly value: number; readonly path: NodePath }[] {
  if (typeof value === 'number') return [{ value, path }];
  if (!isPlainMap(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => numbersIn({ value: item, path: [...path, key] }));
}

/** @param written text of the number in the file; for an alias, the number is checked at its anchor */
function lostDigits(value: number, written: string, path: NodePath): readonly Problem[] {
  if (written === String(value) || !/^[-+.\d]/.test(written)) return [];
  const at = { rule: 'lost-digits', path, at: 'value' } as const;
  // The message must not repeat a secret.
  if (isSecretName(String(path.at(-1)))) {
    const message = 'this is read as a number and loses digits';
    return [{ ...at, message, hint: 'write it in quotes', sensitive: true }];
  }
  return [{ ...at, message: `\`${written}\` is read as the number ${value}`, hint: `write '${written}' in quotes` }];
}

/** Read permission for group and others. */
const OTHERS_READ = 0o044;

/** @param secrets paths of literal secrets, in the order of the tree. */
function checkExposure(secrets: Iterable<NodePath>, tree: Places, files: Files, report: Report): void {
  const exposed = new Map<string, number>();
  for (const { source } of tree.files) {
    const mode = files.stat(source.path)?.mode ?? 0;
    if ((mode & OTHERS_READ) !== 0) exposed.set(source.path, mode);
  }
  for (const path of secrets) {
    if (exposed.size === 0) return;
    const { source } = tree.place(path).file;
    const mode = exposed.get(source.path);
    if (mode === undefined) continue;
    exposed.delete(source.path);
    const message = `a literal secret in a file that other users can read (mode ${mode.toString(8)})`;
    const hint = `\`chmod 600 ${source.name}\`, or use \`env:NAME\` or \`file:path\``;
    report.addProblems([{ rule: 'secret-exposed', path, at: 'value', message, hint, sensitive: true }], tree);
  }
}

/** Literal secrets of the webhook server and its routes. */
function* adapterSecrets(settings: EffectiveSettings): Generator<NodePath> {
  const global = settings.pathOf('secret');
  if (global !== null && isLiteral(settings.values.secret)) yield global;
  for (const route of settings.routes) {
    for (const path of routeSecrets(route.config)) yield [...route.path, ...path];
  }
}

/** Literal store keys, and database URLs that contain a password. */
function* literalGatewaySecrets(config: GatewayConfig | undefined): Generator<NodePath> {
  for (const { path, text, kind } of gatewaySecrets(config)) {
    if (kind === 'key' ? isLiteral(text) : holdsPassword(text)) yield path;
  }
}

/** Literal secrets of a profile's targets and agent. */
function* profileSecrets(config: ProfileConfig): Generator<NodePath> {
  for (const [name, target] of targetEntries(config)) {
    for (const [key, value] of Object.entries(target)) {
      if (isSecretSetting(key) && isLiteral(value)) yield platformPath(name, [key]);
    }
  }
  for (const { path, text, variable } of agentSecrets(config)) {
    // Most variables (DEBUG=1) are not secrets: the name decides.
    const secret = variable === null || isSecretSetting(variable.toLowerCase());
    if (secret && isLiteral(text)) yield path;
  }
}

/** Whether a target setting looks secret by its name, whatever the catalog says about it. */
const isSecretSetting = (key: string): boolean => key === 'key' || isSecretName(key);

function routeSecrets(config: RouteConfig): readonly NodePath[] {
  const paths: NodePath[] = [];
  if (isLiteral(config.secret)) paths.push(['secret']);
  if (isLiteral(config.verify_token)) paths.push(['verify_token']);
  (config.secrets ?? []).forEach((secret, index) => {
    if (isLiteral(typeof secret === 'string' ? secret : secret.value)) paths.push(['secrets', index]);
  });
  return paths;
}

const isLiteral = (value: unknown): boolean =>
  typeof value === 'string' &&
  value !== INSECURE_NO_AUTH &&
  parseSecretRef(value, '').kind === 'literal' &&
  placeholderIn(value) === null;

/** @param home absolute path of the profile's home, below which a relative `cwd` is */
function checkPrograms(
  config: ProfileConfig,
  home: string,
  { tree, files }: { readonly tree: Places; readonly files: Files },
  report: Report,
): void {
  const isFile = (path: string): boolean => files.stat(path)?.kind === 'file';
  for (const agent of writtenAgents(config)) checkProgram(agent, home, { tree, isFile }, report);
}

function checkProgram(
  { path: own, config: { command, cwd } }: WrittenAgent,
  home: string,
  { tree, isFile }: { readonly tree: Places; readonly isFile: (path: string) => boolean },
  report: Report,
): void {
  const working = cwd === undefined || isAbsolute(cwd) ? cwd : join(home, cwd);
  for (const [index, entry] of (command ?? []).entries()) {
    // The user's home in `~/…` is unknown here.
    if (!isProgramFile(entry, index) || (index > 0 && cwd?.startsWith('~/'))) continue;
    // As in `locateProgram` of the runtime: below the home, regardless of the working folder, or on the PATH.
    const folder = index > 0 ? working : entry.includes('/') ? home : undefined;
    if (folder !== undefined && isFile(join(folder, entry))) continue;
    const path = [...own, 'command', index];
    const beside = dirname(tree.place(path).file.source.path);
    if (beside === folder || !isFile(join(beside, entry))) continue;
    const where =
      index > 0
        ? `but the command starts in ${folder === undefined ? 'a new folder' : `\`${folder}\``}`
        : `but looked up ${folder === undefined ? 'on the PATH' : `in \`${folder}\``}`;
    const message = `\`${entry}\` is next to the configuration, ${where}: it will not be found`;
    const hint = `write \`${join(beside, entry)}\`${index > 0 ? `, or \`cwd: ${beside}\`` : ''}`;
    report.addProblems([{ rule: 'program-place', path, at: 'value', message, hint }], tree);
  }
}

/** A relative path with a folder as the program, or the name of a script as any argument. */
const isProgramFile = (entry: string, index: number): boolean =>
  !isAbsolute(entry) &&
  ((index === 0 && entry.includes('/')) ||
    /^[\w.][\w./-]*\.(?:py|sh|bash|zsh|js|mjs|cjs|ts|mts|rb|pl|php|lua|jar|exe)$/.test(entry));

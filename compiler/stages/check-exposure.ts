/** Warns about literal secrets in files that other users of the machine can read: once per file, at the first secret. */

import { holdsPassword } from '../../base/postgres-url.ts';
import type { GatewayConfig, ProfileConfig, RouteConfig } from '../../schemas/generated/types.ts';
import { agentSecrets } from '../config/agent-secrets.ts';
import { gatewaySecrets } from '../config/gateway-secrets.ts';
import { platformPath, targetEntries } from '../config/target-entries.ts';
import type { EffectiveSettings } from '../config/webhook-settings.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import type { Places } from '../source/file-tree.ts';
import type { Files } from '../source/files.ts';
import type { Report } from '../source/report.ts';
import { placeholderIn } from '../text/placeholder-in.ts';
import { isSecretName } from '../text/secret-names.ts';
import { INSECURE_NO_AUTH, parseSecretRef } from '../text/secret-ref.ts';

/** Read permission for group and others. */
const OTHERS_READ = 0o044;

/** @param secrets paths of literal secrets, in the order of the tree. */
export function checkExposure(secrets: Iterable<NodePath>, tree: Places, files: Files, report: Report): void {
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
    const message = `a literal secret in a file that others on this machine can read (mode ${mode.toString(8)})`;
    const hint = `\`chmod 600 ${source.name}\`, or keep the secret out of it: \`env:NAME\` or \`file:path\``;
    report.addProblems([{ rule: 'secret-exposed', path, at: 'value', message, hint, sensitive: true }], tree);
  }
}

/** Literal secrets of the webhook server and its routes. */
export function* adapterSecrets(settings: EffectiveSettings): Generator<NodePath> {
  const global = settings.pathOf('secret');
  if (global !== null && isLiteral(settings.values.secret)) yield global;
  for (const route of settings.routes) {
    for (const path of routeSecrets(route.config)) yield [...route.path, ...path];
  }
}

/** Literal store keys, and database URLs that contain a password. */
export function* literalGatewaySecrets(config: GatewayConfig | undefined): Generator<NodePath> {
  for (const { path, text, kind } of gatewaySecrets(config)) {
    if (kind === 'key' ? isLiteral(text) : holdsPassword(text)) yield path;
  }
}

/** Literal secrets of a profile's targets and agent. */
export function* profileSecrets(config: ProfileConfig): Generator<NodePath> {
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

/** The environment of `gh`, as an allow-list, so that nothing redirects it (GH_REPO, GH_DEBUG, GIT_DIR, …). */
import { allowedEnvironment } from '../../platform/process/child-environment.ts';
import type { BoundTarget, DeliveryContext } from '../driver.ts';

/** Variables through which `gh` finds the login of `gh auth login`: its configuration, or the keyring on the session bus. */
const MACHINE_LOGIN = [
  'GH_CONFIG_DIR',
  'XDG_CONFIG_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'GH_TOKEN',
  'GH_ENTERPRISE_TOKEN',
] as const;

/**
 * With a token of the target, or in another profile than `default`, `gh` gets `folder` as its empty configuration;
 * otherwise it uses the login of the user who runs the gateway.
 */
export function ghEnvironment(
  target: Pick<BoundTarget, 'settings' | 'profile'>,
  { env }: Pick<DeliveryContext, 'env'>,
  folder: string,
): Record<string, string | undefined> {
  const token = target.settings.get('token');
  const host = target.settings.get('host');
  const enterprise = host !== undefined && host !== 'github.com' && !host.endsWith('.ghe.com');
  const own = token === undefined ? {} : { [enterprise ? 'GH_ENTERPRISE_TOKEN' : 'GH_TOKEN']: token };
  const machine = Object.fromEntries(MACHINE_LOGIN.map((name) => [name, env[name]]));
  const isolated = { HOME: folder, GH_CONFIG_DIR: folder };
  return {
    // Includes what `gh` needs behind a proxy, or one that intercepts TLS with its own certificate.
    ...allowedEnvironment(env),
    ...(token === undefined && target.profile === 'default' ? machine : isolated),
    ...own,
    ...(host === undefined ? {} : { GH_HOST: host }),
    GH_PROMPT_DISABLED: '1',
    GH_NO_UPDATE_NOTIFIER: '1',
    NO_COLOR: '1',
  };
}

/** How `gh` is run, and what its end means for a delivery. */

import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { failed } from '../../../runtime/deliver/deliverer.ts';
import type { BoundTarget, DeliveryContext } from '../../../runtime/deliver/driver.ts';
import { allowedEnvironment } from '../../../runtime/platform/process/child-environment.ts';
import type { ProcessResult } from '../../../runtime/platform/process/run-process.ts';

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

/** Derives the outcome of a delivery from the result of `gh`, mostly from its stderr: exit code 1 means any failure. */
interface Rule {
  readonly fits: RegExp;
  readonly kind: 'permanent' | 'retry' | 'ambiguous';
  readonly reason: string;
  readonly retry_after_ms?: number;
}

/** The first match wins. Reasons are our own texts, because stderr may quote anything. */
const RULES: readonly Rule[] = [
  {
    fits: /rate limit|submitted too quickly/i,
    kind: 'retry',
    reason: 'the code host limits the rate of comments',
    // One observed block lasted 72 s.
    retry_after_ms: 75_000,
  },
  {
    fits: /HTTP 401|Bad credentials|Try authenticating with/i,
    kind: 'permanent',
    reason: 'the code host refused the token: log in with `gh auth login` or set the `token` of the target',
  },
  {
    fits: /Could not resolve to a|HTTP 404|no (?:issues?|pull requests?) found/i,
    kind: 'permanent',
    reason: 'there is no such repository, pull request or issue, or the token cannot see it',
  },
  {
    fits: /Resource not accessible|HTTP 403|must have .*(?:permission|access)/i,
    kind: 'permanent',
    reason: 'the token may not comment there',
  },
  { fits: /Body is too long|Body cannot be blank|HTTP 422/i, kind: 'permanent', reason: 'the comment was refused' },
  { fits: /error connecting to|dial tcp|no such host/i, kind: 'retry', reason: 'the code host cannot be reached' },
  { fits: /HTTP 5\d\d/i, kind: 'ambiguous', reason: 'the code host failed' },
];

/** An `ambiguous` outcome is idempotent, because the next attempt searches for the marker first. */
export function ghOutcome(result: ProcessResult): DeliveryOutcome {
  switch (result.kind) {
    case 'spawn_failed':
      return result.code === 'ENOENT'
        ? failed('permanent', 'gh is not installed or not on the PATH of the gateway')
        : failed('retry', `gh could not be started (${result.code})`);
    case 'input_failed':
      return failed('retry', `the text cannot be passed to gh: ${result.reason}`);
    case 'timeout':
    case 'aborted':
      return failed('ambiguous', 'gh did not end in time', { idempotent: true });
    case 'overflow':
      return failed('ambiguous', 'gh wrote too much', { idempotent: true });
    case 'exit':
      return exitOutcome(result.code, result.stderr);
  }
}

function exitOutcome(code: number | null, stderr: string): DeliveryOutcome {
  if (code === 0) return { kind: 'ok', message_id: null, sent: 0 };
  if (code === 4) {
    return failed('permanent', 'gh has no login: run `gh auth login` or set the `token` of the target');
  }
  const rule = RULES.find(({ fits }) => fits.test(stderr));
  if (rule !== undefined) {
    const more = { retry_after_ms: rule.retry_after_ms ?? null, idempotent: rule.kind === 'ambiguous' };
    return failed(rule.kind, rule.reason, more);
  }
  if (code === null) return failed('ambiguous', 'gh was killed', { idempotent: true });
  return failed('permanent', `gh failed with exit code ${code}`);
}

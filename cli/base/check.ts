/** The result of one check of `hookwright doctor`, by the core or a module. */

export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Check {
  /** Its profile; null for the gateway as a whole. */
  readonly profile: string | null;
  /** The target or the part of the gateway. */
  readonly subject: string;
  readonly check: string;
  readonly status: CheckStatus;
  readonly detail: string;
  /** What to do, or null. */
  readonly fix: string | null;
}

type Gateway = Omit<Check, 'profile' | 'fix'> & { readonly fix?: string };

export const gatewayCheck = ({ fix, ...check }: Gateway): Check => ({ profile: null, ...check, fix: fix ?? null });

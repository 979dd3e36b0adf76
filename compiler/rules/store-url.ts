/** A store that is not a PostgreSQL URL. */
import { isPostgresUrl } from '../../base/postgres-url.ts';
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { ViewRule } from './support/view-rule.ts';

export const storeUrl = {
  id: 'store-url',
  checkConfig({ config }): readonly Problem[] {
    const store = config.gateway?.store;
    if (typeof store !== 'object') return [];
    const { kind, value } = parseSecretRef(store.postgres, DEFAULT_PROFILE);
    if (kind !== 'literal' || isPostgresUrl(value)) return [];
    const message = 'this is not a PostgreSQL URL';
    const hint = 'write `env:DATABASE_URL`, and keep `postgres://user:password@host/database` in that variable';
    return [{ rule: 'store-url', path: ['gateway', 'store', 'postgres'], at: 'value', message, hint, sensitive: true }];
  },
} as const satisfies ViewRule;

/** A store that is not a PostgreSQL URL. */
import { isPostgresUrl } from '../../base/postgres-url.ts';
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { rule } from './support/rule.ts';

export const storeUrl = rule('store-url', {
  config({ config }, report) {
    const store = config.gateway?.store;
    if (typeof store !== 'object') return;
    const { kind, value } = parseSecretRef(store.postgres, DEFAULT_PROFILE);
    if (kind !== 'literal' || isPostgresUrl(value)) return;
    const message = 'this is not a PostgreSQL URL';
    const hint = 'write `env:DATABASE_URL`, and keep `postgres://user:password@host/database` in that variable';
    report({ path: ['gateway', 'store', 'postgres'], at: 'value', message, hint, sensitive: true });
  },
});

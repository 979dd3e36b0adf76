/** A secret that is sent without encryption. */
import { isLoopback } from '../../base/listen-address.ts';
import { rule } from './support/rule.ts';

export const tokenWithoutTls = rule('token-without-tls', {
  route({ config, schemes, scope, insecure }, report) {
    const { host, public_url } = scope.table.server;
    const inClear = schemes.length > 0 && schemes.every(({ verify }) => verify === 'token' || verify === 'basic');
    if (!inClear || insecure || isLoopback(host) || isHttps(config.public_url ?? public_url)) return;
    const path = config.source === undefined ? ['auth'] : ['source'];
    const message = `every request of \`${config.source ?? schemes[0]?.name}\` contains the secret itself, and nothing states that TLS protects it`;
    const hint = 'put a proxy with TLS in front and set `public_url`, or bind 127.0.0.1';
    report({ path, at: 'value', message, hint });
  },
});

const isHttps = (url: string | null): boolean => url !== null && /^https:/i.test(url);

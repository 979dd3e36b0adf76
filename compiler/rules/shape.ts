/** Rules about the shape of values. */
import type { EffectiveSettings } from '../config/settings.ts';
import { PROXIES, parseNetwork } from '../config/settings.ts';
import type { Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const invalidValue = rule('invalid-value', {
  route({ config }, report) {
    checkPublicUrl(config.public_url, report);
  },
  config({ config, settings }, report) {
    checkPublicUrl(config.public_url, report);
    checkHost(settings, report);
    const path = settings.pathOf('trusted_proxies') ?? [];
    for (const [index, text] of (settings.values.trusted_proxies ?? []).entries()) {
      const message = `\`${text}\` is neither an address nor a network`;
      if (parseNetwork(text) === null) report({ path: [...path, index], at: 'value', message, hint: PROXIES });
    }
  },
});

/** `host: http://0.0.0.0:8644`: a URL, or a host with a port. */
function checkHost({ values, pathOf }: EffectiveSettings, report: Reporter): void {
  const [, scheme, host = '', port] = /^([a-z]+:\/\/)?([\w.-]*)(?::(\d{1,5}))?\/?$/i.exec(values.host ?? '') ?? [];
  const path = pathOf('host');
  if (path === null || host === '' || (scheme === undefined && port === undefined)) return;
  const isFree = port !== undefined && values.port === undefined;
  // The other `port` may be meant.
  const isSure = port === undefined || isFree || String(values.port) === port;
  const lines = [`host: ${host}`, ...(isFree ? [`port: ${port}`] : [])].map((line) => `\`${line}\``);
  const message = `\`host\` must be only a name or an address: write ${lines.join(' and ')}`;
  const fix = { kind: 'flow', text: host, ...(isFree ? { andKey: `port: ${port}` } : {}) } as const;
  report({ path, at: 'value', message, ...(isSure ? { fix, fixAt: path } : {}) });
}

/** A public host name, optionally with port and path. */
const HOST = /^(?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d{1,5})?(?:\/[\w./-]*)?)$/i;
const LOCAL = /^(?:\/\/)?((?:localhost|127\.0\.0\.1)(?::\d{1,5})?(?:\/[\w./-]*)?)$/i;

/** Whether `public_url` is a URL that senders could call. @param text the value in the route or the config */
function checkPublicUrl(text: string | undefined, report: Reporter): void {
  if (text === undefined || (/^https?:\/\/[^/]/i.test(text) && URL.canParse(text))) return;
  const host = HOST.exec(text)?.[1];
  const local = LOCAL.exec(text)?.[1];
  const meant = host !== undefined ? `https://${host}` : local !== undefined ? `http://${local}` : undefined;
  if (meant !== undefined) {
    const message = `\`public_url\` begins with \`https://\` or \`http://\`: write, for example, \`${meant}\``;
    report({ path: ['public_url'], at: 'value', message });
    return;
  }
  const hint = 'write the URL itself, such as `https://hooks.example.com`: no variable is looked up here';
  report({ path: ['public_url'], at: 'value', message: '`public_url` is not a URL that senders can call', hint });
}

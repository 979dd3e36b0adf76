/**
 * Tokens of an app, which has one for each installation:
 *
 *   address → installation, cached for an hour → its token, cached until shortly before it expires
 *
 * Both requests carry a JSON Web Token signed with the app's private key. A service rejects a token issued in its future, or
 * one that lasts too long. So the token is backdated; if the clocks differ more, the date of the service's response gives the
 * difference.
 */
import type { KeyObject } from 'node:crypto';
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { linkReader, toId } from '../../../runtime/deliver/http/classify-response.ts';
import type {
  AskExchange,
  ExchangeAnswer,
  ExchangeParts,
  TokenContext,
  TokenSource,
} from '../../../runtime/deliver/http/exchange-token.ts';
import { linkAsk, linkTokenReader, noToken } from '../../../runtime/deliver/http/exchange-token.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import type { TokenResult } from '../../../runtime/deliver/http-pool.ts';
import type { InstallationPlan, JwtPlan } from '../../../schemas/generated/types.ts';

/** GitHub recommends backdating by a minute, and accepts a validity of at most ten minutes. */
const BACKDATED_S = 60;
const VALID_S = 480;
/** Smaller clock differences are not the reason for a rejected token. */
const SKEW_MS = 30_000;
const INSTALLATION_MS = 3_600_000;

export interface AppParts extends ExchangeParts {
  readonly jwt: JwtPlan;
  readonly installation: InstallationPlan;
}

/** Returns the tokens, or an error that says why the private key is unusable. */
export function linkAppTokens(parts: AppParts): TokenSource | string {
  const { plan, base, settings, jwt, installation } = parts;
  const issuer = settings.get(jwt.issuer) ?? '';
  const pem = settings.get(jwt.key) ?? '';
  const key = readKey(pem);
  if (key === null) return `${jwt.key} must be a private RSA key in PEM form, \`-----BEGIN … PRIVATE KEY-----\``;
  const app = createHash('sha256')
    .update(JSON.stringify([base.origin, base.path, issuer, pem]))
    .digest('hex');
  /** How far the service's clock is ahead, in ms. */
  let skewMs = 0;
  const signed = (now: number): string => signJwt(key, issuer, now + skewMs);
  const askInstallation = linkAsk(parts, installation.request, [{ kind: 'status', ranges: [{ from: 200, to: 299 }] }]);
  const askToken = linkAsk(parts, plan.request, plan.success);
  const readToken = linkTokenReader(plan);
  const readInstallation = linkInstallationReader(installation);

  async function askSigned(ask: AskExchange, values: Values, context: TokenContext): Promise<ExchangeAnswer> {
    const { clock } = context;
    const reply = await ask({ ...values, jwt: signed(clock.now()) }, context);
    if (reply.kind === 'answer' || reply.response?.status !== 401) return reply;
    const ahead = Date.parse(reply.response.header('date') ?? '') - clock.now();
    if (Number.isNaN(ahead) || Math.abs(ahead - skewMs) < SKEW_MS) return reply;
    skewMs = ahead;
    return ask({ ...values, jwt: signed(clock.now()) }, context);
  }

  return {
    perAddress: true,
    ask: askSigned,
    checkValues: (now) => ({ jwt: signed(now) }),
    async get(values, _, context) {
      const { tokens, clock } = context;
      const installationKey = JSON.stringify([app, [...values.match]]);
      const findInstallation = async (): Promise<TokenResult> => {
        const reply = await askSigned(askInstallation, values, context);
        return reply.kind === 'failed' ? reply.failure : readInstallation(reply.response.json);
      };
      for (let isSecond = false; ; isSecond = true) {
        const place = await tokens.get(installationKey, findInstallation);
        if (place.kind !== 'token') return place;
        const token = await tokens.get(JSON.stringify([app, place.token]), async () => {
          const reply = await askSigned(askToken, { ...values, installation: place.token }, context);
          if (reply.kind === 'answer') return readToken(reply.response, clock.now());
          return reply.response?.status === 404 ? { ...reply.failure, gone: true } : reply.failure;
        });
        // The app was removed, and may have been installed again with another id.
        if (token.kind === 'token' || token.gone !== true || isSecond) return token;
        tokens.drop(place.token);
      }
    },
  };
}

/** An installation is cached as a token whose text is its id. */
function linkInstallationReader({ id }: InstallationPlan): (json: unknown) => TokenResult {
  const readId = linkReader(id);
  return (json) => {
    const found = toId(readId(json));
    if (found === null) return noToken('the response names no installation');
    return { kind: 'token', token: found, usable_ms: INSTALLATION_MS };
  };
}

/** A key in an environment variable often has `\n` instead of line breaks. */
function readKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem.replaceAll('\\n', '\n'));
    return key.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}

/** RS256 (RFC 7519, RFC 7518). @param now Unix ms */
function signJwt(key: KeyObject, issuer: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const claims = { iat: seconds - BACKDATED_S, exp: seconds + VALID_S, iss: issuer };
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims].map(base64url).join('.');
  return `${text}.${sign('sha256', Buffer.from(text, 'utf8'), key).toString('base64url')}`;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');

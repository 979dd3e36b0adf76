/**
 * Tokens of an app, which has one for each place where it is installed:
 *
 *   address → installation, kept for an hour → its token, kept until shortly before it ends
 *
 * Both requests carry a JSON Web Token that the app's private key signs. A service rejects one that is issued in its future,
 * or that lasts too long: so it is backdated, and where the clocks differ more, the date of the service's answer says by how much.
 */
import type { KeyObject } from 'node:crypto';
import { createHash, createPrivateKey, sign } from 'node:crypto';
import { toId } from '../../../runtime/deliver/http/classify-response.ts';
import { linkReader } from '../../../runtime/deliver/http/condition.ts';
import type {
  AskExchange,
  ExchangeAnswer,
  ExchangeParts,
  TokenContext,
  TokenSource,
} from '../../../runtime/deliver/http/exchange-token.ts';
import { linkAsk, linkTokenReader, noToken } from '../../../runtime/deliver/http/exchange-token.ts';
import type { Values } from '../../../runtime/deliver/http/values.ts';
import type { TokenResult } from '../../../runtime/deliver/token-cache.ts';
import type { InstallationPlan, JwtPlan } from '../../../schemas/generated/types.ts';

/** GitHub advises to backdate by a minute, and takes at most ten minutes of validity. */
const BACKDATED_S = 60;
const VALID_S = 480;
/** Clocks that differ less are not the reason why a token is rejected. */
const SKEW_MS = 30_000;
const PLACE_MS = 3_600_000;

export interface AppParts extends ExchangeParts {
  readonly jwt: JwtPlan;
  readonly installation: InstallationPlan;
}

/** Returns the tokens, or what is wrong with the private key. */
export function linkAppTokens(parts: AppParts): TokenSource | string {
  const { plan, base, settings, jwt, installation } = parts;
  const issuer = settings.get(jwt.issuer) ?? '';
  const pem = settings.get(jwt.key) ?? '';
  const key = readKey(pem);
  if (key === null) return `${jwt.key} is not a private RSA key in PEM form, \`-----BEGIN … PRIVATE KEY-----\``;
  const app = createHash('sha256')
    .update(JSON.stringify([base.origin, base.path, issuer, pem]))
    .digest('hex');
  /** How far the service's clock is ahead, in ms. */
  let skewMs = 0;
  const signed = (now: number): string => signJwt(key, issuer, now + skewMs);
  const askPlace = linkAsk(parts, installation.request, [{ kind: 'status', ranges: [{ from: 200, to: 299 }] }]);
  const askToken = linkAsk(parts, plan.request, plan.success);
  const readToken = linkTokenReader(plan);
  const readPlace = linkPlaceReader(installation);

  async function askSigned(ask: AskExchange, values: Values, context: TokenContext): Promise<ExchangeAnswer> {
    const { clock } = context;
    const asked = await ask({ ...values, jwt: signed(clock.now()) }, context);
    if (asked.kind === 'answer' || asked.response?.status !== 401) return asked;
    const ahead = Date.parse(asked.response.header('date') ?? '') - clock.now();
    if (Number.isNaN(ahead) || Math.abs(ahead - skewMs) < SKEW_MS) return asked;
    skewMs = ahead;
    return ask({ ...values, jwt: signed(clock.now()) }, context);
  }

  return {
    perAddress: true,
    ask: askSigned,
    checkValues: (now) => ({ jwt: signed(now) }),
    async get(values, _, context) {
      const { tokens, clock } = context;
      const placeKey = JSON.stringify([app, [...values.match]]);
      const findPlace = async (): Promise<TokenResult> => {
        const asked = await askSigned(askPlace, values, context);
        return asked.kind === 'failed' ? asked.failure : readPlace(asked.response.json);
      };
      for (let isSecond = false; ; isSecond = true) {
        const place = await tokens.get(placeKey, findPlace);
        if (place.kind !== 'token') return place;
        const token = await tokens.get(JSON.stringify([app, place.token]), async () => {
          const asked = await askSigned(askToken, { ...values, installation: place.token }, context);
          if (asked.kind === 'answer') return readToken(asked.response, clock.now());
          return asked.response?.status === 404 ? { ...asked.failure, gone: true } : asked.failure;
        });
        // It was removed, and may have been installed again since, with another id.
        if (token.kind === 'token' || token.gone !== true || isSecond) return token;
        tokens.drop(place.token);
      }
    },
  };
}

/** In the cache, an installation is a token whose text is its id. */
function linkPlaceReader({ id }: InstallationPlan): (json: unknown) => TokenResult {
  const readId = linkReader(id);
  return (json) => {
    const found = toId(readId(json));
    if (found === null) return noToken('the answer names no installation');
    return { kind: 'token', token: found, usable_ms: PLACE_MS };
  };
}

/** A key in a variable often has `\n` for its line ends. */
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

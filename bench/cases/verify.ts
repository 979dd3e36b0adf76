/**
 * The cost of checking a signature, beside the primitive alone over the same bytes.
 *
 * The bare side is exactly `createHmac(algorithm, key).update(bytes).digest()`, or one `verify` for the schemes with a
 * public key: the key is prepared and the signed bytes are in one buffer beforehand. Ours is the whole way from the
 * request to the verdict: finding and reading the headers, the window, the signed bytes, the digest, the comparison.
 */
import type { KeyObject } from 'node:crypto';
import { createHmac, generateKeyPairSync, sign, verify } from 'node:crypto';
import { signRequest } from '../../modules/workbench/cli/test-event/sign-request.ts';
import { linkAuthenticator } from '../../runtime/verify/authenticator.ts';
import { contentBytes, linkContent } from '../../runtime/verify/content.ts';
import { secretKeys } from '../../runtime/verify/primitives.ts';
import { LazyRequest, readLocatedText, splitParts } from '../../runtime/verify/request.ts';
import type { RouteTable, SchemePlan } from '../../schemas/generated/types.ts';
import { compileYaml, ROUTES, tempFolder } from '../harness/config.ts';
import type { Pair, PairRound } from '../harness/pairs.ts';
import { measurePairs } from '../harness/pairs.ts';
import type { Payload } from '../harness/payloads.ts';
import { large, small } from '../harness/payloads.ts';
import { median } from '../harness/stats.ts';
import type { Case } from '../lab.ts';

const NOW = 1_700_000_000_000;
const GOAL = 1.15;
const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

/** Schemes by how they build the signed bytes; `null`: the header-driven choice, ending at its last scheme. */
const HMAC_SCHEMES = [
  'github',
  'standard-webhooks',
  'generic-v2',
  'stripe',
  'slack',
  'github-sha1',
  'hub-sha512',
  null,
];
const ASYMMETRIC_SCHEMES = ['discord', 'sendgrid'];

/** Headers of a delivery in addition to those of its scheme. */
const OTHER_HEADERS = {
  host: 'hooks.example.test',
  'user-agent': 'Sender/1.0',
  accept: '*/*',
  'accept-encoding': 'gzip',
  'content-type': 'application/json',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
  'x-request-id': '4f1c9d0c-5f0c-4f0e-9f0a-3d1a2b3c4d5e',
};

interface Subject extends Pair {
  readonly name: string;
  readonly payload: Payload;
}

export const verifyCase: Case = {
  name: 'verify',
  title: 'Verification of one request, beside one bare createHmac or crypto.verify over the same bytes',
  header: ['scheme', 'payload', 'bare', 'verified', 'ratio', 'goal'],
  async run(lab) {
    const { schemes, default_schemes } = JSON.parse(compileYaml(tempFolder(), ROUTES).routesJson) as RouteTable;
    const plansOf = (name: string | null): SchemePlan[] =>
      (name === null ? default_schemes : [name]).flatMap((scheme) => schemes[scheme] ?? []);
    const subjects = [small, large].flatMap((payload) => [
      ...HMAC_SCHEMES.map((name) => hmacSubject(name ?? 'header-driven', plansOf(name), payload)),
      ...ASYMMETRIC_SCHEMES.flatMap((name) => plansOf(name).map((plan) => asymmetricSubject(plan, payload))),
    ]);
    const rounds = await measurePairs(subjects, lab.quick ? 15 : 75, 5000);
    return subjects.map((subject, index) => row(subject, rounds[index] ?? []));
  },
};

function hmacSubject(name: string, plans: readonly SchemePlan[], payload: Payload): Subject {
  const plan = plans.at(-1);
  if (plan === undefined) throw new Error(`no scheme for ${name}`);
  const request = signedRequest(plan, SECRET, payload);
  const [key = Buffer.alloc(0)] = secretKeys(SECRET, plan.secret);
  const bytes = signedBytes(plan, request);
  const algorithm = plan.verify.slice('hmac-'.length);
  return {
    name,
    payload,
    bare: () => createHmac(algorithm, key).update(bytes).digest(),
    ours: verified(plans, SECRET, request),
  };
}

function asymmetricSubject(plan: SchemePlan, payload: Payload): Subject {
  const { publicKey, privateKey } =
    plan.verify === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const request = signedRequest(plan, pem(privateKey), payload);
  const bytes = signedBytes(plan, request);
  const digest = plan.verify === 'ed25519' ? null : 'sha256';
  const signature = sign(digest, bytes, privateKey);
  return {
    name: plan.name,
    payload,
    bare: () => verify(digest, bytes, publicKey, signature),
    ours: verified([plan], pem(publicKey), request),
  };
}

function verified(schemes: readonly SchemePlan[], secret: string, request: LazyRequest): () => unknown {
  const secrets = [{ text: secret, expires_at: null }];
  const authenticator = linkAuthenticator({ schemes, secrets, insecure: false, public_url: null });
  if (!authenticator.authenticate(request, NOW).ok) throw new Error('the request of the bench was rejected');
  return () => authenticator.authenticate(request, NOW);
}

function signedRequest(plan: SchemePlan, secret: string, { body }: Payload): LazyRequest {
  const unsigned = {
    method: 'POST',
    url: '/webhooks/r',
    public_url: null,
    body: Buffer.from(body),
    id: 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W',
    event: null,
  };
  const signed = signRequest(plan, secret, unsigned, NOW);
  const headers = { ...OTHER_HEADERS, ...signed.headers };
  return new LazyRequest({ ...unsigned, headers, rawHeaders: Object.entries(headers).flat(), body: signed.body });
}

function signedBytes(plan: SchemePlan, request: LazyRequest): Buffer {
  const at = plan.timestamp?.at;
  const parts = at === undefined ? [] : splitParts(at, readLocatedText(at, request) ?? '');
  const timestamp = (typeof parts === 'string' ? undefined : parts[0]) ?? '';
  const id = plan.id === null ? '' : (readLocatedText(plan.id, request) ?? '');
  return contentBytes(linkContent(plan.signed)({ request, timestamp, id, base: '' }));
}

const pem = (key: KeyObject): string =>
  key.export({ format: 'pem', type: key.type === 'private' ? 'pkcs8' : 'spki' }).toString();

/** Medians; the ratio is that of the rounds, not of the medians. */
function row({ name, payload }: Subject, rounds: readonly PairRound[]): string[] {
  const us = (values: readonly number[]): string => `${(median(values) / 1000).toFixed(2)} us`;
  const ratio = median(rounds.map(({ bare, ours }) => ours / bare));
  const sides = [us(rounds.map(({ bare }) => bare)), us(rounds.map(({ ours }) => ours))];
  return [name, payload.name, ...sides, ratio.toFixed(2), `<= ${GOAL}`];
}

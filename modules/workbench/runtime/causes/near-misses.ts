/** Finds the one change that would make a refused signature right, by trying the usual mistakes one at a time. */
import type { SchemePlan } from '../../../../schemas/generated/types.ts';
import { jsonSpellings } from './json-spellings.ts';
import type { Trial } from './trial.ts';
import { tryTrial } from './trial.ts';

export interface NearMiss {
  readonly code: NearMissCode;
  /** What would have to be different, in words. */
  readonly says: string;
}

interface Variation {
  readonly code: string;
  readonly says: string;
  readonly trials: (trial: Trial) => Iterable<Trial>;
}

const withBody = (trial: Trial, body: Buffer | string): Trial => ({
  ...trial,
  parts: { ...trial.parts, body: Buffer.from(body) },
});
const withPlan = (trial: Trial, plan: Partial<SchemePlan>): Trial => ({ ...trial, plan: { ...trial.plan, ...plan } });
const withSecret = (trial: Trial, secret: string): Trial => ({ ...trial, secret });
const textOf = (trial: Trial): string => trial.parts.body.toString('utf8');
const withPrefix = (trial: Trial, prefix: string): Trial =>
  withPlan(trial, { signature: trial.plan.signature.map((at) => ({ ...at, prefix })) });
const isHmac = ({ plan }: Trial): boolean => plan.verify.startsWith('hmac-');
const hasEncoding = ({ plan }: Trial): boolean => plan.verify !== 'token' && plan.verify !== 'basic';
const otherEncodings = ({ plan }: Trial): readonly SchemePlan['encoding'][] =>
  (['hex', 'base64', 'base64url'] as const).filter((encoding) => encoding !== plan.encoding);

/** The byte order mark of UTF-8, decoded. */
const MARK = '\ufeff';

/** Plausible signed-content templates of other schemes. */
const BODY: SchemePlan['signed'] = [{ kind: 'body', value: [] }];
const TIMED = ['.', ':', '', ','].map((separator): SchemePlan['signed'] => [
  { kind: 'timestamp', value: [] },
  ...(separator === '' ? [] : [{ kind: 'text' as const, value: [separator] }]),
  ...BODY,
]);

const VARIATIONS = [
  {
    code: 'line_break',
    says: 'the body lost or gained a line break at its end on the way',
    trials: (trial) => {
      const text = textOf(trial);
      const bare = text.replace(/[\r\n]+$/, '');
      return [bare, `${bare}\n`, `${bare}\r\n`].filter((body) => body !== text).map((body) => withBody(trial, body));
    },
  },
  {
    code: 'line_endings',
    says: 'the line breaks of the body were changed on the way (LF and CRLF)',
    trials: (trial) => [
      withBody(trial, textOf(trial).replace(/\r\n/g, '\n')),
      withBody(trial, textOf(trial).replace(/\r?\n/g, '\r\n')),
    ],
  },
  {
    code: 'byte_order_mark',
    says: 'the body lost or gained a byte order mark at its start on the way',
    trials: (trial) => {
      const text = textOf(trial);
      return [withBody(trial, text.startsWith(MARK) ? text.slice(MARK.length) : MARK + text)];
    },
  },
  {
    code: 'body_rewritten',
    says: 'the body is JSON that was parsed and written again on the way: verify the bytes as received',
    trials: function* (trial) {
      for (const body of jsonSpellings(textOf(trial).replace(/^\ufeff/, ''))) yield withBody(trial, body);
    },
  },
  {
    code: 'form_payload',
    says: 'the sender signed the JSON inside the form field `payload`: choose the content type JSON at the sender',
    trials: (trial) => {
      const inner = new URLSearchParams(textOf(trial)).get('payload');
      return inner === null ? [] : [withBody(trial, inner)];
    },
  },
  {
    code: 'secret_whitespace',
    says: 'the secret has a space or a line break at its start or end',
    trials: (trial) =>
      [trial.secret.trim(), `${trial.secret.trim()}\n`]
        .filter((text) => text !== trial.secret)
        .map((text) => withSecret(trial, text)),
  },
  {
    code: 'secret_form',
    says: 'the secret is right in another form: as text where it should be decoded, or decoded where it should be text',
    trials: (trial) => (isHmac(trial) ? secretForms(trial) : []),
  },
  {
    code: 'prefix',
    says: 'the signature has another prefix than this source uses, or none',
    trials: (trial) =>
      ['', 'sha1=', 'sha256=', 'sha512=', 'v0=', 'v1=', 'v1,', 'Bearer '].map((prefix) => withPrefix(trial, prefix)),
  },
  {
    code: 'encoding',
    says: 'the signature is of another encoding (hex, base64) than this source uses',
    trials: (trial) =>
      hasEncoding(trial) ? otherEncodings(trial).map((encoding) => withPlan(trial, { encoding })) : [],
  },
  {
    code: 'encoding',
    says: 'the signature is of another encoding (hex, base64) than this source uses, and has no prefix',
    trials: (trial) =>
      hasEncoding(trial) ? otherEncodings(trial).map((encoding) => withPrefix(withPlan(trial, { encoding }), '')) : [],
  },
  {
    code: 'hash_function',
    says: 'the signature is made with another hash function',
    trials: (trial) =>
      isHmac(trial)
        ? (['hmac-sha1', 'hmac-sha256', 'hmac-sha512'] as const).map((verify) => withPlan(trial, { verify }))
        : [],
  },
  {
    code: 'signed_content',
    says: 'the sender signed something else: the body alone, or the timestamp with another separator',
    trials: (trial) =>
      isHmac(trial)
        ? [BODY, ...(trial.plan.timestamp === null ? [] : TIMED)].map((signed) => withPlan(trial, { signed }))
        : [],
  },
  {
    code: 'public_url',
    says: 'the URL is another one at the sender: http or https, with or without a slash at its end',
    trials: (trial) => (trial.url === null ? [] : urlSpellings(trial.url).map((url) => ({ ...trial, url }))),
  },
] as const satisfies readonly Variation[];

/** One change would make the signature right. */
export type NearMissCode = (typeof VARIATIONS)[number]['code'];

/** The one change that would make the signature right; null when none of the usual mistakes explains it. */
export function findNearMiss(trial: Trial): NearMiss | null {
  for (const variation of VARIATIONS) {
    for (const changed of variation.trials(trial)) if (tryTrial(changed).ok) return variation;
  }
  return null;
}

function secretForms(trial: Trial): Trial[] {
  const bare = trial.secret.replace(/^(v1,)?whsec_/, '');
  return [trial.secret, bare].flatMap((secret) =>
    (['utf8', 'base64', 'hex'] as const).map((as) =>
      withSecret(withPlan(trial, { secret: { strip: '', as, otherwise: 'same' } }), secret),
    ),
  );
}

function urlSpellings(url: string): string[] {
  const other = url.startsWith('https:') ? url.replace(/^https:/, 'http:') : url.replace(/^http:/, 'https:');
  return [url, other].flatMap((spelling) => [
    spelling,
    spelling.endsWith('/') ? spelling.slice(0, -1) : `${spelling}/`,
  ]);
}

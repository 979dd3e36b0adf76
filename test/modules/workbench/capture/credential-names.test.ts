/** Tests which names of headers and parameters count as credentials, and where parameters are found. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  credentialPlaces,
  namesCredential,
  pathWithoutCredentials,
  withoutCredentials,
} from '../../../../modules/workbench/runtime/capture/record.ts';
import { loadShippedSources } from '../../../helpers/catalog-sources.ts';
import { cpuTime } from '../../../helpers/cpu-time.ts';

const SECRET = `Authorization Proxy-Authorization X-Auth-Token x-api-key api_key apikey APIKEY X-ApiKey X-Key key KEY keyV2 access_key
  secretkey X-Master-Key Ocp-Apim-Subscription-Key x-functions-key routing_key license-key private_key password passwd db_passwd pwd pass
  user_pass X-Pass passphrase passcode pin X-Pin pin_code otp X-OTP totp mfa_code sid SID connect.sid X-SID PHPSESSID JSESSIONID session_id
  bearer X-Bearer sas sas_token client_assertion SAMLAssertion SAMLResponse X-Goog-IAP-JWT-Assertion DPoP dpop cookie X-Cookies csrf X-XSRF
  client_secret clientSecret X-Hub-Signature sig X-Sig sign X-Sign hmac X-Amz-Signature X-Amz-Security-Token X-Amz-Credential jwt id_token
  refreshToken psk pat credentials creds verification_code invite_code X-Ms-Client-Principal-Token x-amzn-oidc-data
  X-WSSE cvv card_cvc mnemonic X-Sess kennwort senha`;
const HARMLESS = `X-Forwarded-For Idempotency-Key idempotency_key X-GitHub-Event X-Event-Key keyword keywords passage author authors X-Author
  compass bypass passenger passed tests_passed pinned spinning opinion shipping sidebar MessageSid AccountSid CallSid resid inside design
  assign signal signed_at sign_in sign-up sign_out Sec-WebSocket-Key project_key issueKey partition_key cache-key sort_key public_key key_id
  keyId key_name monkey turkey donkey hockey whiskey keyboard status_code country_code error_code zip_code encode barcode X-Request-ID
  Content-Type User-Agent X-Real-IP Host Accept-Encoding traceparent X-GitHub-Delivery event date page pattern patch spat sasquatch
  optic option captain pinterest cred-it incredible`;

describe('names', () => {
  for (const name of SECRET.split(/\s+/))
    it(`${name} is a credential`, () => assert.equal(namesCredential(name), true));
  for (const name of HARMLESS.split(/\s+/).filter((each) => each !== 'cred-it'))
    it(`${name} is not a credential`, () => assert.equal(namesCredential(name), false));
});

describe('values of headers', () => {
  const places = credentialPlaces([]);
  const keeps = (value: string): boolean => withoutCredentials(['X-Forwarded-Data', value], places)[0]?.[1] === value;
  const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl`;
  for (const value of [
    'Bearer abc',
    'basic dTpw',
    'DPoP abc',
    'Negotiate YII=',
    ' Bearer\tabc',
    jwt,
    jwt.replace(/c2.*/, ''),
  ])
    it(`${value} is a credential`, () => assert.equal(keeps(value), false));
  for (const value of [
    'basic',
    'Bearer',
    'basically fine',
    'eyJhbGciOiJIUzI1NiJ9',
    'the bearer of news',
    'application/json',
  ])
    it(`${value} is not a credential`, () => assert.equal(keeps(value), true));
});

describe('parameters', () => {
  const places = credentialPlaces(loadShippedSources().lowered.map(({ plan }) => plan));
  const header = (value: string): string => withoutCredentials(['X-Original-URL', value], places)[0]?.[1] ?? '';
  const path = (url: string): string => pathWithoutCredentials(url, places);
  const CANARY = 'canary-4711';
  const once = encodeURIComponent;

  const hiding: readonly (readonly [string, string])[] = [
    ['plain', `/r?token=${CANARY}&x=1`],
    ['an escaped name', `/r?%74oken=${CANARY}&x=1`],
    ['an escaped separator', `/r?token%3D${CANARY}&x=1`],
    ['a URL in a parameter', `/r?next=${once(`https://h/x?token=${CANARY}&y=2`)}&x=1`],
    ['a URL in lower-case escapes', `/r?next=https%3a%2f%2fh%2fx%3ftoken%3d${CANARY}%26y%3d2&x=1`],
    ['a URL in a URL', `/r?next=${once(`https://h/x?u=${once(`https://i/?api_key=${CANARY}&z`)}&y=2`)}&x=1`],
    ['a user in a parameter', `/r?next=${once(`https://user:${CANARY}@h/x`)}&x=1`],
    ['a fragment', `/r?next=${once(`https://h/#access_token=${CANARY}`)}&x=1`],
    ['brackets', `/r?token[]=${CANARY}&x=1`],
    ['HTML', `/r?a=1&amp;token=${CANARY}&amp;x=1`],
    ['text', `see https://h/x?sig=${CANARY} x=1`],
    ['JSON', JSON.stringify({ url: `https://h/x?token=${CANARY}&x=1` })],
    ['escaped JSON', `{"url":"https://h/x?a=1\\u0026token\\u003d${CANARY}\\u0026x=1"}`],
  ];
  for (const [what, value] of hiding) {
    it(`are removed: ${what}`, () => {
      for (const captured of [header(value), path(value)]) {
        assert.equal(captured.includes(CANARY), false, captured);
        assert.match(captured, /%5Bremoved%3A%20[a-z]+%5D/);
        assert.match(captured, /x(=|%3D)|z%26y/, 'what stands beside it is kept');
      }
    });
  }

  it('others are unchanged, byte for byte', () => {
    for (const value of [
      '/r?page=2&sort=asc&next=https%3A%2F%2Fh%2Fx%3Fa%3Db%26c%3D%25',
      'https://h/x?keyword=a%26b&author=me',
      '%%%=%3D%zz&+',
      'a@b.example',
    ])
      assert.deepEqual([header(value), path(value)], [value, value]);
  });

  it('hostile values take linear time', () => {
    for (const unit of ['token=', '%3Dtoken', '://', '&token=a', 'token%253D', '=']) {
      const ms = cpuTime(() => header(unit.repeat(Math.floor(16_000 / unit.length))));
      assert.ok(ms < 200, `${unit}: ${ms} ms`);
    }
  });
});

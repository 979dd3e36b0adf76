/** Keys for tests that sign as any source does. */
import { generateKeyPairSync } from 'node:crypto';
import type { SchemePlan } from '../../schemas/generated/types.ts';

/** A secret for the signing side, and the text that the receiver configures. */
export function keysOf(plan: SchemePlan): { readonly signing: string; readonly receiving: string } {
  if (plan.verify !== 'ed25519' && plan.verify !== 'ecdsa-p256') {
    const key = Buffer.from('q7Vn2mXc94TzLb61RwKd83HsFy50JgPe');
    const encoding = plan.secret.as === 'utf8' ? 'utf8' : plan.secret.as === 'hex' ? 'hex' : 'base64';
    const text = plan.secret.strip + (plan.verify === 'basic' ? 'sender:Vt4kXw92LmQz' : key.toString(encoding));
    return { signing: text, receiving: text };
  }
  const pair =
    plan.verify === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    signing: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    receiving: pair.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  };
}

/** Keeps a secret that arrived in a handshake where the route reads it from: a file only its owner can read. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { filePath } from '../../runtime/secret-resolver.ts';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../context.ts';
import { writeAtomic } from '../files/write-atomic.ts';
import { userHome } from './secrets.ts';

type Place = Pick<CliContext, 'home' | 'env'>;

/** The file of the route's current secret; null when the secret is kept elsewhere. */
export function capturedFile({ home, env }: Place, plan: RoutePlan): string | null {
  const ref = plan.secrets[0]?.ref;
  return ref?.kind === 'file' ? filePath(ref, { home, userHome: userHome(env) }) : null;
}

/** @throws Error when the route's secret is not a `file:`, or the file cannot be written */
export function storeCaptured(place: Place, plan: RoutePlan, secret: string): string {
  const path = capturedFile(place, plan);
  if (path === null) throw new Error(`the secret of route "${plan.name}" is not kept in a file`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomic(path, `${secret}\n`, 0o600);
  return path;
}

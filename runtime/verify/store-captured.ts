/** Stores a secret that arrived in a handshake in the file from which the route reads it, readable only by its owner. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import { filePath } from '../platform/secrets/secret-resolver.ts';
import { writeAtomic } from '../platform/write-atomic.ts';

/** The folders that a reference may be relative to, as absolute paths. */
export interface SecretFolders {
  readonly home: string;
  readonly userHome: string;
}

/** The file of the route's current secret; null when the secret is not kept in a file. */
export function capturedFile(folders: SecretFolders, plan: RoutePlan): string | null {
  const ref = plan.secrets[0]?.ref;
  return ref?.kind === 'file' ? filePath(ref, folders) : null;
}

/** Returns the file's path. @throws Error when the route's secret is not a `file:`, or the file cannot be written */
export function storeCaptured(folders: SecretFolders, plan: RoutePlan, secret: string): string {
  const path = capturedFile(folders, plan);
  if (path === null) throw new Error(`the secret of route "${plan.name}" is not kept in a file`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeAtomic(path, `${secret}\n`, 0o600);
  return path;
}

/** Certificates for a test's database server, made by openssl. */
import { execFileSync } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ending } from '../at-end.ts';
import { tempDir } from '../temp-dir.ts';
import { serverOwner } from './binaries.ts';

export interface Certificates {
  /** File of the CA that signed the server's certificate, and of one that did not. */
  readonly ca: string;
  readonly otherCa: string;
  /** Settings of a server with the certificate, which names only `localhost`. */
  readonly settings: Readonly<Record<string, string>>;
}

export function makeCertificates(t: Ending): Certificates {
  const folder = tempDir(t);
  const at = (name: string): string => join(folder, name);
  const openssl = (...argv: readonly string[]): unknown =>
    execFileSync('openssl', argv, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  for (const name of ['ca', 'other-ca']) {
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
    );
  }
  openssl('req', ...newKey, '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr');
  writeFileSync(at('server.ext'), 'subjectAltName = DNS:localhost\n');
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'server.ext', '-days', '2'];
  openssl('x509', '-req', '-in', 'server.csr', ...signing, '-out', 'server.crt');
  const owner = serverOwner();
  for (const path of [folder, at('server.key'), at('server.crt')])
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
  const settings = { ssl: 'on', ssl_cert_file: at('server.crt'), ssl_key_file: at('server.key') };
  return { ca: at('ca.crt'), otherCa: at('other-ca.crt'), settings };
}

/** What every store promises, kept by the SQLite store as a command opens it; the server's is the same behind threads. */
import { storeConformance } from '../conformance/conformance.ts';
import { sqliteSubject } from './subject.ts';

// All runs of the properties are in ./conformance.slow.test.ts.
storeConformance({ ...sqliteSubject, share: 0.1 });

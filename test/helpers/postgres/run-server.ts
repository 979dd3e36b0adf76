/** A process of its own that starts a server, says in which folder, and waits for its death. */
import { Cluster } from './cluster.ts';

const { folder } = await Cluster.create();
process.stdout.write(folder);
setInterval(() => {}, 1000);

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Starts a fake server that implements just enough of PostgreSQL's protocol to report its version. */
export async function startOldPostgres(version: string): Promise<{ readonly url: string; close(): void }> {
  const server: Server = createServer((socket) => void socket.on('data', answerWith(socket, version)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `postgres://old@127.0.0.1:${port}/old`, close: () => void server.close() };
}

function answerWith(socket: Socket, version: string): (data: Buffer) => void {
  let isLetIn = false;
  return (data) => {
    if (!isLetIn) socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]));
    else if (!data.includes('show server_version')) socket.write(Buffer.concat([text('C', 'SET'), READY]));
    else socket.write(Buffer.concat([COLUMNS, row(version), text('C', 'SHOW'), READY]));
    isLetIn = true;
  };
}

function message(type: string, content = Buffer.alloc(0)): Buffer {
  const head = Buffer.from(`${type}....`);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const text = (type: string, content: string) => message(type, Buffer.from(`${content}\0`));
const READY = message('Z', Buffer.from('I'));

/** The description of one text column. */
const COLUMNS = message(
  'T',
  Buffer.concat([
    Buffer.from([0, 1]),
    Buffer.from('server_version\0'),
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]),
  ]),
);

function row(value: string): Buffer {
  const head = Buffer.from([0, 1, 0, 0, 0, value.length]);
  return message('D', Buffer.concat([head, Buffer.from(value)]));
}

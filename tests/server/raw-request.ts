import { connect } from 'node:net';

export interface RawResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends raw bytes, which client libraries would not send, and reads the whole response. */
export async function sendRaw(port: number, request: string): Promise<RawResponse> {
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1');
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
      if (isComplete(received)) socket.destroy();
    });
    socket.on('close', () => resolve(received)).on('error', reject);
    socket.write(request, 'latin1');
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body || '{}') as RawResponse['body'] };
}

function isComplete(text: string): boolean {
  const [head = '', body] = text.split('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
  return body !== undefined && Buffer.byteLength(body) >= length;
}

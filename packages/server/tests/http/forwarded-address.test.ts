import type { IncomingMessage } from 'node:http';
import express from 'express';
import { addForwardedAddress, getClientAddress } from '../../src/http/request.js';

const remoteAddress = '10.0.0.9';

/** Returns the address that Express finds. */
function addressOfExpress(forwarded: string, hops: number): string | undefined {
  const app = express().set('trust proxy', hops);
  const request = { app, headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress }, connection: {} };
  Object.setPrototypeOf(request, app.request);
  return (request as unknown as express.Request).ip;
}

describe('the address of a forwarded request', () => {
  test.each([0, 1, 2, 5])('is the one that Express finds behind %i proxies', (hops) => {
    for (const forwarded of ['203.0.113.7', '203.0.113.7, 10.1.1.1', ' a ,b,,c , 2001:db8::1', '']) {
      const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } };
      addForwardedAddress(request as unknown as IncomingMessage, hops);
      expect(getClientAddress(request as unknown as IncomingMessage)).toBe(addressOfExpress(forwarded, hops));
    }
  });

  test.each([
    // Application Gateway of Azure and others add the port.
    ['203.0.113.7:50123', '203.0.113.7'],
    ['[2001:db8::1]:50123', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:50123', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:db8::1:443', '2001:db8::1:443'],
    ['unknown', 'unknown'],
  ])('is without a port: %s', (forwarded, expected) => {
    const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } };
    addForwardedAddress(request as unknown as IncomingMessage, 1);
    expect(getClientAddress(request as unknown as IncomingMessage)).toBe(expected);
  });
});

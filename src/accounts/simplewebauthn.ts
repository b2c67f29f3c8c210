/** The checks of passkeys. The build puts their code here: installed, their packages take 7 MB. */
export { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
export { decodeAttestationObject } from '@simplewebauthn/server/helpers';

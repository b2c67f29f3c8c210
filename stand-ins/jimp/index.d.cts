declare class Jimp {
  constructor(bitmap: { readonly width: number; readonly height: number; readonly data: Uint8Array });
}

export = Jimp;

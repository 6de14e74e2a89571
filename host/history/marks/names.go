package marks

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	code = Compile(`https?://[^\s、。」)]+|[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|\b0[0-9]{1,4}-[0-9]{1,4}-[0-9]{3,4}\b|\bv?[0-9]+\.[0-9]+\.[0-9]+(?:\.[0-9]+)?\b|\b[A-Za-z]+[-_]?[0-9][A-Za-z0-9_]*(?:[-.][0-9][A-Za-z0-9]*)*\b|\b[a-z0-9_-]+\.(?:go|py|js|ts|md|txt|csv|json|toml|yaml|yml|html|css|pdf|png|jpg|jpeg|mp3|mp4|wav|com|org|net|io|jp|dev)\b|\b[a-z0-9]+(?:_[a-z0-9]+)+\b|(?:^|[\s(])--?[a-z][a-z-]{2,}\b`)

	titled   = Compile(`([\p{Han}々]{1,4}|[\p{Katakana}ー]{2,12}|[A-Za-z]{2,15} ?)(さん|ちゃん|くん|君|様|氏|先輩|先生|部長|課長|店長|社長|教授)`)
	hiragana = Compile(`(?:^|[、。!?「\s])([\p{Hiragana}]{2,4}?)(さん|ちゃん|くん)`)
	place    = Compile(`[\p{Han}々ヶケ]{1,6}(?:駅|市|区|町|村|県|神社|公園|大学|高校|空港|港|山荘|温泉|病院|旅館|寺|城)`)
	firm     = Compile(`(?:^|[^\p{Hiragana}\p{Katakana}\p{Han}ー]|[はがをにでとの])([\p{Hiragana}]{2,5}|[\p{Katakana}ー]{2,8}|[\p{Han}]{2,4})(?:運送|引越(?:センター)?|商店|商会|商事|印刷|製粉|乳業|工業|産業|建設|工務店|不動産|書店|書房|出版|電器|電機|酒造|農園|牧場|薬局|医院|クリニック|銀行|楽器)`)
	generic  = words(`地元 近所 大手 近隣 別 他社 駅前 地方 都市 中小 専門 総合 市内 国内 海外 個人 有名 老舗 新しい`)
	katakana = Compile(`[\p{Katakana}ー]{2,}(?:・[\p{Katakana}ー]{2,})*`)
	latin    = Compile(`[A-Za-z][A-Za-z'&+#]*(?:-[A-Za-z]+)*`)
	quoted   = Compile(`[「『"]([^「」『』"。、]{2,20})[」』"]`)

	// chosen is what something is decided to be.
	chosen   = Compile(`([\p{Han}々]{2,4}|[\p{Katakana}ー]{3,12})に(?:した(?:$|[。、よんわ])|しよう(?:$|[^か])|します(?:$|[^か])|する(?:$|[。、よねわ])|決[まめ]|決定|変更|変え)`)
	unchosen = words(`一緒 大事 大切 参考 前提 後回 最初 本当 最後 上手 綺麗 元気 仲間 馬鹿 楽 別 気 次回 今度 明日 来週 今日 先送 保留 無理 別々 全部 半分 以内 以下 以上 自由 正式 本気 適当 簡単 丁寧 静 早 無事 必要 具体的 最終的 基本的 一旦 普通 慎重 確実 有効 無効 可能 非公開 公開 禁止`)
	nobody   = words(`皆 客 神 母 父 兄 姉 弟 妹 奥 娘 息子 嫁 旦那 医者 店員 屋 誰 何 各 同 様 生徒 花屋 本屋 お客 両親 祖父 祖母 叔父 叔母 先 担当 主 此 模 仕 有 多 子 赤 親御 貴 業者 係 大家 管理人 隣 二人 同 猫 犬 鳥 魚 異 諸 左 右 神様 他 一 某`)
	places   = words(`最寄駅 最寄り駅 各駅 地元 都市 全市 市町村 動物病院 総合病院 同大学 各地 母校 隣町 下町 港町 田舎町 当区 地区 学区 同駅 現地 次駅 終着駅`)
	common   = words(`メール メッセージ チーム ミーティング プロジェクト スケジュール リスト メモ データ ファイル ページ サイト テスト コード バグ エラー リリース レビュー タスク ドキュメント バージョン システム サーバー サーバ ユーザー ログ アプリ ツール デザイン イメージ アイデア アイディア ポイント ルール ケース パターン タイプ サイズ カラー メニュー セット コース プラン ランチ ディナー ケーキ コーヒー ジュース ビール ワイン パン サラダ スープ カレー パスタ ピザ デザート チョコ アイス レストラン カフェ ホテル ホール コンビニ スーパー デパート トイレ エレベーター テーブル イス ベッド ドア バス タクシー バイク チケット カード レジ クーポン キャンセル キャンセルポリシー オッケー ダメ ナシ アリ オーケー ゲスト メンバー スタッフ リーダー マネージャー グループ クラス イベント パーティー パーティ ライブ コンサート ゲーム アニメ マンガ ドラマ ニュース テレビ ラジオ スマホ パソコン カメラ ネット インターネット プレゼント サプライズ バースデー アレルギー ストレス トラブル ペース スタート ゴール チェック コピー プリント アンケート コメント フィードバック サンプル タイトル テーマ ジャンル キャラ キャラクター ストーリー シーン セリフ シナリオ ネタ ハード ソフト オンライン オフライン リモート バイト アルバイト シフト プライベート プラス マイナス トータル ベース メイン サブ オプション シンプル カジュアル フォーマル レベル ランク ステップ コスト プロ アマ ペット サービス スペース タイミング ポスター チラシ パンフレット シール マスク タオル シャツ ズボン スカート コート ジャケット カバン バッグ リュック ノート ペン ボール ゴミ トマト タマゴ エビ カニ ナッツ ピーナッツ ミルク チーズ バター ヨーグルト フルーツ リンゴ バナナ イチゴ オレンジ ネコ イヌ アップ ダウン オープン クローズ スポーツ サッカー テニス プール ジム ヨガ ダンス ピアノ ギター ドラム ロック ジャズ クラシック ポップ バンド メロディ エリア フロア ビル マンション アパート リビング キッチン ベランダ エアコン カーテン ガス マジ ヤバ ヤバい スゴ メッチャ ホント タイプ センス バランス ピンク ブルー グレー キロ メートル センチ グラム リットル パーセント ドル ユーロ コピペ リンク プラン マップ ガイド ルート ツアー キャンプ テント ドライブ レンタカー ガソリン スピード モード ボタン スイッチ プラグ バッテリー ケーブル モニター マウス キーボード マイク スピーカー ヘッドホン イヤホン アカウント パスワード ログイン セキュリティ クラウド バックアップ キャッシュ フォルダ フォント マーク アイコン ロゴ クリック ダウンロード アップロード インストール アップデート アウト セーフ ハイ イエス ノー サイン リハーサル リハ ステージ マイナンバー エントリー コンセプト テンション アクセス アクション アドバイス アピール ギリギリ バタバタ ドキドキ ワクワク キラキラ`)
	anybody  = words(`i i'm i'll i've i'd ok okay am pm a the yes no oh hi hey hello thanks thank sure maybe monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec english japanese lol fyi btw asap tbd todo to-do diy faq url ng w ww www wwww m km kg cm mm ml g l kb mb gb tb yen usd jpy eur vs etc dr mr mrs ms st nd rd th p.s ps re cc id god christmas lgtm imo tl dj fine good great well right so but and then also we you he she it they let's don't that's it's`)
)

// verbal is くん that ends a verb: it is explained.
var verbal = regexp.MustCompile(`^くん(?:だ(?:よ|ね|っ|け|か|が|。|、|$)|です|でしょ|じゃ|や|すか)`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// counted is a number behind a word, and no code: under-16s.
var counted = regexp.MustCompile(`(?i)^(?:under|over|pre|post|mid|top|part|day|week|room|plot|level|aged?|from|to|non|up)-?[0-9]+s?$`)

// codes reads what is written in one way only: addresses, numbers of telephones, versions, models.
func (p *page) codes() {
	for _, at := range code.all(p.text, p.grams) {
		s := strings.TrimLeft(p.text[at[0]:at[1]], " \t\n(")
		from := at[1] - len(s)
		if p.free(from, at[1]) && !counted.MatchString(s) {
			p.add(Mark{Kind: Name, From: from, To: at[1], Sure: true, Key: strings.ToLower(s)})
		}
	}
}

// names reads names, as far as letters show them.
func (p *page) names() {
	defer p.join()
	for _, at := range titled.all(p.text, p.grams) {
		for at[2] < at[3] && !p.free(at[2], at[2]+1) { // 昨日田中さん
			at[2]++
		}
		at[0] = at[2]
		name := strings.TrimSpace(group(p.text, at, 1))
		if verbal.MatchString(group(p.text, at, 2) + p.behind(at[1])) { // 全部拭くんだよ
			continue
		}
		if name != "" && !nobody[name] && !strings.HasSuffix(name, "屋") && p.free(at[0], at[1]) && !anybody[strings.ToLower(name)] {
			p.add(Mark{Kind: Name, From: at[0], To: at[1], Sure: true, Key: fold(name)})
		}
	}
	for _, at := range hiragana.all(p.text, p.grams) {
		if p.free(at[2], at[5]) && !kin.MatchString(group(p.text, at, 1)) {
			p.add(Mark{Kind: Name, From: at[2], To: at[5], Sure: true, Key: fold(group(p.text, at, 1))})
		}
	}
	for _, at := range place.all(p.text, p.grams) {
		s := p.text[at[0]:at[1]]
		if p.free(at[0], at[1]) && !places[s] && utf8.RuneCountInString(s) > 2 {
			p.add(Mark{Kind: Name, From: at[0], To: at[1], Key: fold(s)})
		}
	}
	for _, at := range firm.all(p.text, p.grams) {
		if s := group(p.text, at, 1); p.free(at[2], at[1]) && !generic[s] {
			p.add(Mark{Kind: Name, From: at[2], To: at[1], Sure: true, Key: fold(s)})
		}
	}
	for _, at := range chosen.all(p.text, p.grams) {
		if s := group(p.text, at, 1); p.free(at[2], at[3]) && !unchosen[s] {
			p.add(Mark{Kind: Name, From: at[2], To: at[3], Sure: true, Key: fold(s)})
		}
	}
	for _, at := range quoted.all(p.text, p.grams) {
		s := group(p.text, at, 1)
		if p.free(at[2], at[3]) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Hiragana, r) || unicode.IsSpace(r) }) {
			p.add(Mark{Kind: Name, From: at[2], To: at[3], Sure: true, Key: fold(s)})
		}
	}
	for _, at := range katakana.all(p.text, p.grams) {
		if s := p.text[at[0]:at[1]]; p.free(at[0], at[1]) && strings.Trim(s, "ー") != "" {
			p.add(Mark{Kind: Name, From: at[0], To: at[1], Key: fold(s), Sure: strings.Contains(s, "・"), Weak: common[s] || strings.HasSuffix(p.text[:at[0]], "ー")})
		}
	}
	p.latin()
}

var kin = regexp.MustCompile(`^(?:みな|おかあ|おとう|おにい|おねえ|かあ|とう|にい|ねえ|おば|おじ|おく|おきゃく|たく|おば|おじい|ばあ|じい|おまわり|かみ|わん|にゃん|たくさ)`)

// latin reads names in Latin letters: in Japanese all words, in English those with a capital letter that does not begin a sentence.
func (p *page) latin() {
	japanese := strings.ContainsFunc(p.text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
	for _, at := range latin.all(p.text, p.grams) {
		s := strings.TrimSuffix(p.text[at[0]:at[1]], "'s")
		key := fold(strings.TrimRight(s, "'"))
		if !p.free(at[0], at[0]+len(s)) || anybody[key] || len(key) < 2 || !japanese && strings.Contains(s, "'") {
			continue
		}
		capital := s[0] >= 'A' && s[0] <= 'Z'
		inner := strings.ContainsFunc(s[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' })
		switch {
		case inner && strings.ToLower(s) != s && len(s) > 1 && (strings.ToUpper(s) != s || len(s) < 6):
		case japanese && p.insideJapanese(at[0], at[0]+len(s)):
		case capital && !p.begins(at[0]):
		default:
			continue
		}
		p.add(Mark{Kind: Name, From: at[0], To: at[0] + len(s), Key: key, Sure: inner || capital && !japanese})
	}
}

// join makes one name of two Latin words beside each other: Hollow Hut.
func (p *page) join() {
	slices.SortStableFunc(p.marks, func(a, b Mark) int { return cmp.Compare(a.From, b.From) })
	joined := p.marks[:0]
	for _, m := range p.marks {
		if n := len(joined); n > 0 && m.Kind == Name && joined[n-1].Kind == Name && isLatin(m.Key) && isLatin(joined[n-1].Key) && p.text[joined[n-1].To:m.From] == " " {
			o := &joined[n-1]
			o.To, o.Key, o.Text = m.To, o.Key+" "+m.Key, p.text[o.From:m.To]
			continue
		}
		joined = append(joined, m)
	}
	p.marks = joined
}

func isLatin(key string) bool {
	return !strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxLatin1 || unicode.IsDigit(r) })
}

// begins says whether a sentence begins here, or something that is written like one.
func (p *page) begins(at int) bool {
	before := strings.TrimRight(p.text[:at], " \t\"'([*-#>")
	if before == "" {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:;…。！？\n)", r)
}

// insideJapanese says whether a word has Japanese on one side, and no other Latin word on the other.
func (p *page) insideJapanese(from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(p.text[:from])
	after, _ := utf8.DecodeRuneInString(p.text[to:])
	return unicode.In(before, unicode.Han, unicode.Hiragana, unicode.Katakana) || unicode.In(after, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func fold(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// Says says whether a text, in [Plain] and small letters, has a name as a word of its own. Of a name of several
// words one is enough: Hollow, for Hollow Hut.
func Says(plain, key string) bool {
	if says(plain, key) {
		return true
	}
	for w := range strings.FieldsSeq(key) {
		if len(w) > 2 && w != key && !anybody[w] && says(plain, w) {
			return true
		}
	}
	return false
}

func says(plain, key string) bool {
	for at := 0; at < len(plain); {
		i := strings.Index(plain[at:], key)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(plain[:i])
		after, _ := utf8.DecodeRuneInString(plain[i+len(key):])
		first, _ := utf8.DecodeRuneInString(key)
		last, _ := utf8.DecodeLastRuneInString(key)
		if !joins(before, first) && !joins(last, after) {
			return true
		}
		at = i + len(key)
	}
	return false
}

// joins says whether two letters beside each other are of one word.
func joins(a, b rune) bool {
	switch {
	case a == 'ー' || b == 'ー':
		return unicode.Is(unicode.Katakana, a) || unicode.Is(unicode.Katakana, b)
	case unicode.Is(unicode.Katakana, a):
		return unicode.Is(unicode.Katakana, b)
	case a < unicode.MaxLatin1 && unicode.IsLetter(a):
		return b < unicode.MaxLatin1 && unicode.IsLetter(b)
	case unicode.IsDigit(a):
		return unicode.IsDigit(b)
	}
	return false
}

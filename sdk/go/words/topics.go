package words

import (
	"cmp"
	"slices"
	"sync"
)

// Topic is something people talk about.
type Topic struct {
	ID     string
	Ja, En string   // how it is called
	Words  []string // what gives it away, in normal form
}

// topics is the list every script shares. Scripts may add to it.
var topics = []Topic{
	NewTopic("p2p", "P2P", "peer-to-peer", "p2p", "ピアツーピア", "ピア", "peer-to-peer", "peer to peer", "peer", "libp2p", "ノード同士", "bittorrent", "torrent"),
	NewTopic("dist", "分散システム", "distributed systems", "分散システム", "分散", "中央集権", "一極集中", "distributed", "decentralized", "decentralised", "decentralization", "cap定理", "サーバー", "サーバ", "server", "ネットワーク", "network"),
	NewTopic("consensus", "合意", "consensus", "合意", "raft", "paxos", "コンセンサス", "リーダー選挙", "多数決", "consensus", "quorum", "leader election", "投票", "majority vote"),
	NewTopic("chain", "ブロックチェーン", "blockchain", "ブロックチェーン", "ビットコイン", "仮想通貨", "暗号資産", "nft", "イーサリアム", "blockchain", "bitcoin", "crypto", "ethereum", "台帳", "ledger"),
	NewTopic("privacy", "プライバシー", "privacy", "プライバシー", "データ主権", "個人情報", "個人データ", "監視", "検閲", "パスワード", "暗号", "privacy", "personal data", "surveillance", "password", "encryption"),
	NewTopic("failure", "障害", "failures", "障害", "故障", "ばぐ", "落ちた", "止まった", "復旧", "インシデント", "エラー", "バックアップ", "failure", "outage", "bug", "crash", "backup", "incident"),
	NewTopic("cat", "猫", "cats", "猫", "ねこ", "にゃん", "子猫", "犬", "いぬ", "ペット", "肉球", "cat", "kitten", "kitty", "dog", "pet"),
	NewTopic("food", "ごはん", "food", "ラーメン", "ごはん", "ご飯", "食べ", "お腹", "おなか", "料理", "カレー", "寿司", "すし", "お菓子", "おやつ", "ケーキ", "焼肉", "餃子", "うどん", "プリン", "ランチ", "夕飯", "朝食", "ramen", "food", "eat", "hungry", "lunch", "dinner", "breakfast", "curry", "sushi", "cook", "cooking", "cake", "noodle"),
	NewTopic("weather", "天気", "the weather", "天気", "雨", "晴れ", "晴れて", "雪", "台風", "暑い", "暑かった", "寒い", "寒かった", "気温", "傘", "weather", "rain", "raining", "rainy", "sunny", "snow", "storm", "umbrella", "cold day", "hot day"),
	NewTopic("music", "音楽", "music", "音楽", "歌", "曲", "ライブ", "ギター", "ピアノ", "バンド", "カラオケ", "作曲", "music", "song", "sing", "singing", "guitar", "piano", "band", "karaoke", "concert"),
	NewTopic("game", "ゲーム", "games", "ゲーム", "げーむ", "マイクラ", "ポケモン", "rpg", "ボス戦", "ラスボス", "ガチャを", "ガチャで", "ガチャが", "ガチャは", "ガチャの", "ガチャ引", "ガチャ回", "game", "gaming", "minecraft", "pokemon", "boss fight"),
	NewTopic("stream", "配信", "streaming", "配信", "vtuber", "ぶいちゅーばー", "ストリーマー", "コメント欄", "スパチャ", "アバター", "リスナー", "stream", "streaming", "streamer", "youtube", "twitch", "avatar"),
	NewTopic("sleep", "眠り", "sleep", "眠い", "ねむい", "眠た", "眠り", "眠さ", "寝る", "寝れ", "寝不足", "眠れ", "睡眠", "昼寝", "徹夜", "夜更かし", "布団", "sleepy", "sleep", "tired", "nap", "insomnia", "dream"),
	NewTopic("study", "勉強", "studying", "勉強", "宿題", "試験", "テスト勉強", "受験", "学校", "大学", "授業", "study", "studying", "homework", "exam", "school", "university", "learn", "learning"),
	NewTopic("work", "仕事", "work", "仕事", "会社", "残業", "上司", "会議", "締め切り", "締切", "転職", "給料", "在宅", "work", "job", "boss", "office", "meeting", "deadline", "overtime", "salary"),
	NewTopic("ai", "AI", "AI", "ai", "人工知能", "コンパニオン", "llm", "機械学習", "ロボット", "chatgpt", "companion", "robot", "artificial intelligence", "machine learning", "language model"),
}

// NewTopic makes a topic of its names and the words it is known by.
func NewTopic(id, ja, en string, words ...string) Topic {
	for i := range words {
		words[i] = Normal(words[i])
	}
	return Topic{ID: id, Ja: ja, En: en, Words: words}
}

// Take adds what gives the same topic away in another language, and how it is called there.
func (t *Topic) Take(o Topic, l Lang) {
	t.Words = slices.Concat(t.Words, slices.DeleteFunc(slices.Clone(o.Words), func(w string) bool { return slices.Contains(t.Words, w) }))
	if l == English {
		t.En = o.En
	} else {
		t.Ja = o.Ja
	}
}

// Topics gives the list every script shares. Scripts may add to it.
func Topics() []Topic { return slices.Clone(topics) }

// TopicsOf gives the ids of the shared topics in a text: the one with most
// words first, then the one that comes first.
func TopicsOf(s string) []string { return shared().In(Normal(s)) }

// shared finds the topics every script shares.
var shared = sync.OnceValue(func() *Finder { return NewFinder(topics) })

// Finder finds topics in texts.
type Finder struct {
	list  []Topic
	words lexicon
}

// NewFinder finds the topics of a list.
func NewFinder(list []Topic) *Finder {
	f := &Finder{list: list, words: lexicon{}}
	for i, t := range list {
		for _, w := range t.Words {
			f.words.add(w, i)
		}
	}
	return f
}

// In gives the topics of a text in normal form.
func (f *Finder) In(text string) []string {
	type hit struct {
		id    int
		words []string
		place int
	}
	var hits []hit
	f.words.scan(text, func(place int, t term) {
		i := slices.IndexFunc(hits, func(h hit) bool { return h.id == t.id })
		if i < 0 {
			hits = append(hits, hit{t.id, []string{t.word}, place})
		} else if !slices.Contains(hits[i].words, t.word) {
			hits[i].words = append(hits[i].words, t.word)
		}
	})
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(len(b.words), len(a.words)), cmp.Compare(a.place, b.place))
	})
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = f.list[h.id].ID
	}
	return ids
}
